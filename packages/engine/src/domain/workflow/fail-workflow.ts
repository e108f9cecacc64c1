import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ToolStatus } from "@reeve/contracts/tool";
import { parallelCallsIn } from "../budget/frame-caps.ts";
import { refuse } from "../calls/tool-result.ts";
import { unansweredCalls } from "../calls/unanswered-calls.ts";
import { awaitsAnyAfterTool } from "../plugins/call-hooks.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, FrameWorkflow } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { notExecuted } from "../stop/stopped-call.ts";
import { callerFailed, evaluate } from "./evaluate.ts";

/** Returns why a workflow fails: because of a node of it, or of a workflow above it, which needs it no more. Undefined: it does not. */
export function failureOf(
  state: RunState,
  frame: Frame,
  workflow: FrameWorkflow,
): string | undefined {
  const outer = callerFailure(state, frame);
  if (outer !== undefined) return outer;
  const { failure } = evaluate(frame, workflow, parallelCallsIn(state, frame));
  if (failure === undefined) return undefined;
  // Plugins see a result before any node does, also one of a workflow that the frame calls.
  return awaitsAnyAfterTool(state, frame) ? undefined : failure;
}

/** Returns why a frame is not needed any more: a workflow that called it, or one of its callers, has failed. Undefined: none has. */
export function callerFailure(state: RunState, { subtask }: Frame): string | undefined {
  const caller = subtask && state.frames.get(subtask.parent);
  if (caller === undefined) return undefined;
  if (caller.workflow === undefined || !caller.stepOpen) return callerFailure(state, caller);
  const failure = failureOf(state, caller, caller.workflow);
  return failure === undefined ? undefined : `${callerFailed}${failure}`;
}

/** Returns the refusals of the calls that have not started, and withdraws their approvals. Calls in progress still end: their effects are known then. */
export function refuseWaiting(frame: Frame, failure: string, nowMs: number): readonly Fact[] {
  const scope = scopeOf(frame);
  return unansweredCalls(frame)
    .filter(({ startedAtMs }) => startedAtMs === undefined)
    .flatMap((call) => {
      const content = `${notExecuted}${failure}`;
      const refused = refuse(call, scope, content, ToolStatus.ERROR, nowMs);
      const { approval } = call;
      if (approval?.state !== ApprovalState.PENDING) return [refused];
      const withdrawn = create(ApprovalSchema, { ...approval, state: ApprovalState.WITHDRAWN });
      return [fact(scope, { case: "approval", value: { approval: withdrawn } }), refused];
    });
}
