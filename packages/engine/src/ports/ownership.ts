import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { RunState } from "../domain/state/run-state.ts";

/** The part of a delivered dispatch message that a claim names. */
export type DispatchDelivery = Pick<Delivery<Dispatch>, "sequence" | "attempt" | "traceparent">;

/**
 * How an owner released its run, with the state at that point. `ended`: the run has ended. `parked`: the run waits for a
 * fact from outside. `lost`: another worker has claimed the run. `released`: the run can continue, and this worker stops.
 */
export interface RunRelease {
  readonly kind: "ended" | "parked" | "lost" | "released";
  readonly state: RunState;
}

/** When a worker stops driving its runs. */
export interface StopSignals {
  /** Stop at once. The answer of a model in progress is lost and voided by the next owner. */
  readonly now: AbortSignal;
  /** Start no more model calls, and release each run as soon as no model is answering it. */
  readonly drain: AbortSignal;
}
