import type { RunEvent } from "@reeve/contracts/run";
import type { FedBatch, RunEventKind, RunFeed } from "./run-feed.ts";
import type { RunKey } from "./run-log.ts";
import { Signalled } from "./signalled.ts";

/** A feed for tests: gives the batches that `feed` is called with. */
export class MemoryRunFeed implements RunFeed {
  readonly #batches: FedBatch[] = [];
  readonly #arrived = new Signalled();

  feed(key: RunKey, events: readonly RunEvent[]): void {
    this.#batches.push({ key, events, acknowledge: () => undefined });
    this.#arrived.say();
  }

  async *consume(
    _consumer: string,
    kinds: ReadonlySet<RunEventKind>,
    signal: AbortSignal,
  ): AsyncIterable<FedBatch> {
    for (let next = 0; ;) {
      const batch = this.#batches[next];
      if (batch === undefined) await this.#arrived.wait(undefined, signal);
      else {
        next++;
        const wanted = batch.events.some(({ event }) => event.case && kinds.has(event.case));
        if (wanted) yield batch;
      }
    }
  }
}
