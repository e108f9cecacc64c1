/**
 * What the workflow of a run and its activities exchange. Temporal stores it, and other versions read it: fields are only
 * added. It has no content of the run: that is in the run's log only.
 */

/** The version of the workflow and of this contract. A change that cannot be replayed gets a new name of the workflow as well. */
export const workflowVersion = 1;

/** A dispatch of the run: a reason to give it to a worker. */
export interface RunDispatch {
  /** Sequence of the dispatch message in its stream. */
  readonly sequence: number;
  /** Sequence that the log of the run had reached when it was dispatched; 0: unknown. */
  readonly afterSequence: number;
  /** W3C trace context of the dispatch. Empty: none. */
  readonly traceparent: string;
}

/** What a workflow carries. Its first argument, also when it continues as a new one. */
export interface CarriedRun {
  readonly tenant: string;
  readonly run: string;
  /** The last dispatch that was given to a worker. Undefined: none yet. */
  readonly dispatch?: RunDispatch;
  /** How often it was given to a worker. */
  readonly attempts: number;
  /** The dispatch that came meanwhile. Undefined: none. */
  readonly pending?: RunDispatch;
}

/** The input of the activity that owns a run until the run waits or ends. */
export interface OwnedRun {
  readonly tenant: string;
  readonly run: string;
  readonly dispatch: RunDispatch;
  /** How often workers had the run for this dispatch, before this activity. */
  readonly attempts: number;
}

/**
 * How an owner leaves its run. `ended`: nothing remains to do. `parked`: the run waits for a dispatch, and is checked after `checkMs`;
 * undefined: no time limits its wait. `again`: the run can continue after `delayMs`. `elsewhere`: another worker has the run.
 */
export type OwnerExit =
  | { readonly kind: "ended" | "elsewhere" }
  | { readonly kind: "parked"; readonly checkMs?: number }
  | { readonly kind: "again"; readonly delayMs: number };

/** The result of the activity that owned a run. `attempts` counts how often workers had the run for its dispatch. */
export type OwnerOutcome = OwnerExit & { readonly attempts: number };

/** The input of the activity that cancels a run because its workflow was cancelled. */
interface CancelledRun {
  readonly tenant: string;
  readonly run: string;
}

/** The activities, by the names under which Temporal knows them. */
export interface RunActivities {
  ownRun(owned: OwnedRun): Promise<OwnerOutcome>;
  cancelRun(cancelled: CancelledRun): Promise<void>;
}
