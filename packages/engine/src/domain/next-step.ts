import type { MessageSubmitted } from "@reeve/contracts/run";
import { StepState } from "@reeve/contracts/run";
import { recordedBytesOf } from "@reeve/run/parts/part-note";
import { frameLimits } from "./budget/limits.ts";
import { exceededBy, overBudget } from "./budget/over-budget.ts";
import { endIfDone, failFrame, hasMessages, failWithoutResult, outsideSteps } from "./end-frame.ts";
import { endRefused } from "./guardrails/end-refused.ts";
import { isRefused } from "./guardrails/refused-turn.ts";
import type { Fact, Scope } from "./state/fact.ts";
import { fact, rootScope } from "./state/fact.ts";
import type { Frame } from "./state/frame.ts";
import { plannerId, rootId, scopeOf } from "./state/frame.ts";
import { beforeModelCall } from "./model/before-model-call.ts";
import { answerSize } from "./model/call-size.ts";
import { countsTokens } from "./model/needs-count.ts";
import type { RunState } from "./state/run-state.ts";
import { endStopped } from "./stop/end-stopped.ts";
import { stopAfterTurn } from "./stop/stop-after-turn.ts";
import { isFinished, requiresResult } from "./subtasks/finish-subtask.ts";
import { stepOfWorkflow } from "./workflow/end-workflow.ts";
import { callerFailure } from "./workflow/fail-workflow.ts";

/** Returns the facts that start the next step of a frame, or end it when it is done or out of budget. */
export function nextStep(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  if (frame.workflow !== undefined) return stepOfWorkflow(state, frame, frame.workflow, nowMs);
  const ended = isRefused(frame) ? endRefused(state, frame) : endIfDone(state, frame);
  if (ended.length > 0) return ended;
  const failure = callerFailure(state, frame);
  if (failure !== undefined) return failFrame(state, frame, "caller_failed", failure);
  const stop = stopAfterTurn(state, frame);
  const isAnswer = stop?.error === "" || (requiresResult(frame) && isFinished(frame));
  if (stop !== undefined && !(isAnswer && hasMessages(state, frame))) {
    return endStopped(state, frame, stop);
  }
  const limits = frameLimits(state, frame);
  const taken = frame.step - frame.answeredStep;
  if (taken >= limits.rounds && !isAskedAfterAnswer(state, frame, stop !== undefined)) {
    if (requiresResult(frame)) return failWithoutResult(state, frame);
    const message = `${nameOf(frame)} took ${taken} steps without an answer; raise max_rounds or narrow the task`;
    return failFrame(state, outsideSteps(frame), "iteration_limit", message);
  }
  const size = answerSize(state, frame);
  // A provider that counts does so within the step. The whole check follows before the call.
  const known = countsTokens(state, frame) ? { ...size, inputTokens: 0 } : size;
  const exceeded = exceededBy(state, frame, known, nowMs);
  if (exceeded !== undefined) return overBudget(state, exceeded);
  // The planner records no steps: a model call starts its next one.
  if (frame.id === plannerId)
    return beforeModelCall(state, { ...frame, isCompacted: false }, nowMs);
  const scope: Scope = { ...rootScope, ...scopeOf(frame), step: frame.step + 1 };
  const injected = frame.id === rootId ? fitting([...state.head.pendingMessages.values()]) : [];
  return [
    fact(scope, { case: "step", value: { state: StepState.STARTED } }),
    ...injected.map(({ messageId, message }) =>
      fact(scope, {
        case: "messageInjected",
        value: { messageId, ...(message && { message }) },
      }),
    ),
  ];
}

/** Whether the last step answered or stopped, and a message arrived meanwhile: it is work of its own, with its own limit of steps. */
function isAskedAfterAnswer({ head }: RunState, frame: Frame, hasStopped: boolean): boolean {
  const { id, step, calls } = frame;
  const hasAnswered = hasStopped || calls.length === 0 || isFinished(frame);
  return id === rootId && step > 0 && hasAnswered && head.pendingMessages.size > 0;
}

/** The size of the messages that one step injects. The next step injects the rest. */
const maxInjectedBytes = 256 * 1024;

function fitting(inbox: readonly MessageSubmitted[]): readonly MessageSubmitted[] {
  let room = maxInjectedBytes;
  const end = inbox.findIndex(({ message }) => (room -= recordedBytesOf(message)) < 0);
  return end === -1 ? inbox : inbox.slice(0, Math.max(1, end));
}

function nameOf({ id, subtask }: Frame): string {
  if (id === plannerId) return "the planner";
  return subtask === undefined ? "the run" : `the subtask "${subtask.job.title}"`;
}
