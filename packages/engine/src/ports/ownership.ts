import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { RunState } from "../domain/state/run-state.ts";

/** The delivery of a dispatch message by which a run is claimed. */
export type DispatchDelivery = Pick<Delivery<Dispatch>, "sequence" | "attempt" | "traceparent">;

/** Where a run is when its owner lets go of it. `released`: it goes on, and somebody else is to take it. */
export type RunRelease = {
  readonly kind: "ended" | "parked" | "lost" | "released";
  readonly state: RunState;
};
