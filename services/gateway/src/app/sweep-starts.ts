import { create } from "@bufbuild/protobuf";
import { DispatchSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/log/log";
import { emptyHead, foldHead, isTerminal } from "@reeve/log/run-head";
import type { RunKey } from "@reeve/log/run-log";
import type { Logger } from "@reeve/platform/logger";
import type { GatewayPorts } from "./gateway-ports.ts";

/** How long whoever stored a run has the time to dispatch it. */
const graceMs = 10_000;
/** How many runs are looked after at a time; more are left to the clients that repeat their requests. */
const mostWatched = 10_000;

export interface SweepClock {
  now(): number;
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

interface Due {
  readonly key: RunKey;
  readonly atMs: number;
}

/**
 * Dispatches runs whose gateway died between storing and dispatching them. Each run that is accepted, and of which nobody
 * said meanwhile that it was taken, is looked at once, some seconds later; the queue drops a dispatch that it has had before.
 */
export class StartSweeper {
  readonly #ports: Pick<GatewayPorts, "log" | "dispatch">;
  readonly #clock: SweepClock;
  /** By tenant and run, in the order in which they are due. */
  readonly #due = new Map<string, Due>();
  #wake = Promise.withResolvers<void>();

  constructor(ports: Pick<GatewayPorts, "log" | "dispatch">, clock: SweepClock) {
    this.#ports = ports;
    this.#clock = clock;
  }

  /** Hears of a run that was accepted. */
  accepted(key: RunKey): void {
    if (this.#due.size >= mostWatched) return;
    this.#due.set(nameOf(key), { key, atMs: this.#clock.now() + graceMs });
    this.#wake.resolve();
  }

  /** Hears of a run that a worker has taken: it needs no look. */
  claimed(key: RunKey): void {
    this.#due.delete(nameOf(key));
  }

  /** Looks after runs until `signal` aborts, which it rejects with. */
  async sweep(log: Logger, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const [next] = this.#due.values();
      if (next === undefined) {
        this.#wake = Promise.withResolvers<void>();
        await orAborted(this.#wake.promise, signal);
        continue;
      }
      await this.#clock.sleep(Math.max(0, next.atMs - this.#clock.now()), signal);
      const name = nameOf(next.key);
      if (this.#due.has(name) && (await this.#isForgotten(next.key, signal))) {
        const { tenant, run } = next.key;
        const message = create(DispatchSchema, { tenant, runId: run });
        await this.#ports.dispatch.publish(message, { dedupeId: `${run}:start` }, signal);
        log.info({ tenant, runId: run }, "run dispatched once more");
      }
      this.#due.delete(name);
    }
  }

  /** Whether nobody has taken the run. One that waits for its turn in a thread is not to be taken yet. */
  async #isForgotten(key: RunKey, signal: AbortSignal): Promise<boolean> {
    const { events } = await this.#ports.log.read(key, emptyTail, signal);
    const { created, claim, status } = foldHead(emptyHead, events);
    if (created === undefined || created.threadId !== "") return false;
    return claim === undefined && !isTerminal(status);
  }
}

function nameOf({ tenant, run }: RunKey): string {
  return `${tenant}.${run}`;
}

async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
