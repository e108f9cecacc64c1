import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";

/** After how long a problem with the keys of a tenant is logged again. */
const reportMs = 3_600_000;
/** How many tenants are remembered. */
const maxReported = 10_000;

/** Logs that the keys of a tenant fail, and that they are back: two lines per tenant and hour at most. */
export class KeyReports {
  readonly #log: Pick<Logger, "info" | "error">;
  readonly #clock: Pick<Clock, "now">;
  readonly #reported = new Map<string, { readonly atMs: number; readonly isOver: boolean }>();

  constructor(log: Pick<Logger, "info" | "error">, clock: Pick<Clock, "now">) {
    this.#log = log;
    this.#clock = clock;
  }

  failed(tenant: string, error: unknown): void {
    const nowMs = this.#clock.now();
    const last = this.#reported.get(tenant);
    if (last !== undefined && nowMs - last.atMs < reportMs) return;
    this.#remember(tenant, { atMs: nowMs, isOver: false });
    this.#log.error({ err: error, tenant }, "the keys of a tenant are not available");
  }

  succeeded(tenant: string): void {
    const last = this.#reported.get(tenant);
    if (last === undefined || last.isOver) return;
    this.#remember(tenant, { ...last, isOver: true });
    this.#log.info({ tenant }, "the keys of a tenant are available again");
  }

  #remember(tenant: string, report: { readonly atMs: number; readonly isOver: boolean }): void {
    this.#reported.delete(tenant);
    this.#reported.set(tenant, report);
    for (const oldest of this.#reported.keys()) {
      if (this.#reported.size <= maxReported) break;
      this.#reported.delete(oldest);
    }
  }
}
