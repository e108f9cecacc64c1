import type { RunEvent } from "@reeve/contracts/run";
import type { RunKey } from "./run-log.ts";

/** The name of a kind of event: the case of its oneof. */
export type RunEventKind = NonNullable<RunEvent["event"]["case"]>;

/** A committed batch of a run that has at least one event of the kinds that were asked for. */
export interface FedBatch {
  readonly key: RunKey;
  /** The whole batch. */
  readonly events: readonly RunEvent[];
  /** Says that the batch needs not be delivered again. */
  acknowledge(): void;
}

/** What happens in all runs, for projections. */
export interface RunFeed {
  /**
   * The batches since the beginning of the store that have an event of `kinds`, each at least once, and first in the order
   * of their commits; what is not acknowledged comes again, and then after later ones. `consumer` names the reader: its
   * place outlives the process, and several processes of one name share the work. Ends by throwing the signal's reason.
   */
  consume(
    consumer: string,
    kinds: ReadonlySet<RunEventKind>,
    signal: AbortSignal,
  ): AsyncIterable<FedBatch>;
}
