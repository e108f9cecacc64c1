import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { OwnedRun } from "./contract.ts";

/** How a worker settled the run that an activity gave it. */
export type Settlement =
  | { readonly kind: "acknowledged" | "abandoned" }
  | { readonly kind: "returned"; readonly delayMs: number };

/** A run that an activity gives to this worker. */
export class ActivityDelivery implements Delivery<Dispatch> {
  readonly message: Dispatch;
  readonly sequence: number;
  readonly attempt: number;
  readonly traceparent: string;
  readonly #settled = Promise.withResolvers<Settlement>();

  /** `attempt` counts the attempts of this activity, from 1. */
  constructor({ tenant, run, dispatch, attempts }: OwnedRun, attempt: number) {
    const { sequence, afterSequence, traceparent } = dispatch;
    this.message = create(DispatchSchema, { tenant, runId: run, afterSequence });
    this.sequence = sequence;
    // Fences off earlier owners, also those that earlier activities gave the run to.
    this.attempt = attempts + attempt;
    this.traceparent = traceparent;
  }

  /** Resolves when the worker has settled the run. */
  get settled(): Promise<Settlement> {
    return this.#settled.promise;
  }

  /** The activity sends heartbeats itself, from before the worker takes the run until Temporal has its answer. */
  extend(): void {}

  acknowledge(): void {
    this.#settled.resolve({ kind: "acknowledged" });
  }

  returnToQueue(delayMs: number): void {
    this.#settled.resolve({ kind: "returned", delayMs });
  }

  abandon(): void {
    this.#settled.resolve({ kind: "abandoned" });
  }
}
