import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolStatus } from "@reeve/contracts/tool";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { refuse } from "./tool-result.ts";

/** Why the operator's policy of now refuses a call. */
export interface Refusal {
  readonly reason: string;
  /** The permission rule that denies the call. Undefined: another part of the policy refuses it. */
  readonly permission?: PermissionDecision;
}

/**
 * Returns why the operator's policy of now refuses a call that is about to start subtasks. Undefined: it allows the call. The log
 * records the refusal, so that a reader of the log needs no policy.
 */
export type RefusalNow = (
  state: RunState,
  frame: Frame,
  call: Call,
  tool: ToolDescriptor,
) => Refusal | undefined;

/** Of a reader of the log, which has no policy. */
export const refusesNothing: RefusalNow = () => undefined;

/** Returns the result of a call that the operator's policy of now refuses. */
export function refusalFact(
  frame: Frame,
  call: Call,
  { reason, permission = call.permission }: Refusal,
  nowMs: number,
): Fact {
  return refuse({ ...call, permission }, scopeOf(frame), reason, ToolStatus.ERROR, nowMs);
}
