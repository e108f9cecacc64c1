import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { RunState } from "../domain/state/run-state.ts";

/** The part of a delivered dispatch message that a claim names, and the event that its log must have. */
export type DispatchDelivery = Pick<Delivery<Dispatch>, "sequence" | "attempt" | "traceparent"> & {
  readonly message: Pick<Dispatch, "afterSequence">;
};

/** After so many deliveries, the log is taken as it is: the store may have lost the event that a dispatch names. */
const maxAwaitingDeliveries = 10;

/** Returns the sequence that the log must have reached before a delivery decides anything; 0: unknown. */
export function awaitedSequence({ message, attempt }: DispatchDelivery): number {
  return attempt > maxAwaitingDeliveries ? 0 : message.afterSequence;
}

/**
 * How an owner released its run, with the state at that point. `ended`: the run has ended. `parked`: the run waits for a
 * fact from outside. `lost`: another worker has claimed the run. `released`: the run can continue, and this worker stops.
 * `delayed`: the run only waits for its providers, for at least `delayMs`, or another worker may have what this one lacks.
 */
export type RunRelease =
  | { readonly kind: "ended" | "parked" | "lost" | "released"; readonly state: RunState }
  | { readonly kind: "delayed"; readonly state: RunState; readonly delayMs: number };

/** Thrown by an effect that another worker may be able to perform. The owner releases the run as in a drain, for at least `delayMs`. */
export class HandOver extends Error {
  override readonly name = "HandOver";
  readonly delayMs: number;

  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/** When a worker stops driving its runs. */
export interface StopSignals {
  /** Stop at once. The answer of a model in progress is lost and voided by the next owner. */
  readonly now: AbortSignal;
  /** Start no more model calls, and release each run as soon as no model is answering it. */
  readonly drain: AbortSignal;
}
