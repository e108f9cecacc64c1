import type { Clock } from "@reeve/platform/async/clock";
import { steadyClock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { counter } from "@reeve/platform/telemetry/metrics";

/** After how long the same place is reported again. */
const reportMs = 3_600_000;
/** How many places are reported in that time. The metric counts all. */
const maxReported = 1_000;

const altered = counter({
  name: "reeve_altered_payloads_total",
  help: "Reads of encrypted data that was altered, or that belongs to another place. Anything but 0 means that somebody wrote to NATS past the services, or that a disk or a backup is damaged; the log names the places.",
});

/** Logs and counts what was altered: a line for each place and hour, and a thousand lines an hour at most. */
export class AlteredReports {
  readonly #log: Pick<Logger, "error">;
  readonly #clock: Pick<Clock, "now">;
  readonly #reported = new Map<string, number>();

  constructor(log: Pick<Logger, "error">, clock: Pick<Clock, "now"> = steadyClock) {
    this.#log = log;
    this.#clock = clock;
  }

  found(tenant: string, place: string): void {
    altered.inc();
    const nowMs = this.#clock.now();
    // The oldest come first.
    for (const [reported, atMs] of this.#reported) {
      if (nowMs - atMs < reportMs) break;
      this.#reported.delete(reported);
    }
    if (this.#reported.has(place) || this.#reported.size >= maxReported) return;
    this.#reported.set(place, nowMs);
    this.#log.error({ tenant, place }, "encrypted data was altered and cannot be read");
  }
}
