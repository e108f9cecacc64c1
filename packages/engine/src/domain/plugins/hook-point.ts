import type { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { Call } from "../state/frame.ts";

/** A point of a run at which each of its plugins may have a hook. */
export interface HookPoint {
  readonly phase: HookPhase;
  /** Id of the frame. */
  readonly frame: string;
  /** Number of the step; 0 outside of steps. */
  readonly step: number;
  /** The call that the point is about. Undefined: none. */
  readonly call?: Call;
}
