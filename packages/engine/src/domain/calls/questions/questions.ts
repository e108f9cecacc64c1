import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalSource, ApprovalState, GateKind } from "@reeve/contracts/approval";
import type { Question } from "@reeve/contracts/tool";
import { AnswerAction, AnswerSchema } from "@reeve/contracts/tool";
import { delegatesOfCall } from "../../delegates/callers-of.ts";
import type { Fact, Scope } from "../../state/fact.ts";
import { fact } from "../../state/fact.ts";
import type { Call } from "../../state/frame.ts";
import type { RunState } from "../../state/run-state.ts";
import { liveFrames } from "../../state/run-state.ts";

/** How long a person has to answer. The server that asks keeps a connection open meanwhile. */
const defaultMs = 600_000;
const maxMs = 1_500_000;

/** A question of a tool that was answered, or that timed out. */
export interface AnsweredQuestion {
  readonly call: Call;
  readonly approval: Approval;
}

/** Returns the approval that asks a person the question of a tool; none if the run already has it. */
export function requestAnswer(
  state: RunState,
  { call, questions }: Call,
  question: Question,
  scope: Scope,
  nowMs: number,
): readonly Fact[] {
  const { runId, created } = state.head;
  const approvalId = `${call.callId}-${question.questionId}`;
  if (questions.some((known) => known.approvalId === approvalId)) return [];
  const timeout = created?.spec?.approvalPolicy?.timeout;
  const timeoutMs = Math.min(timeout === undefined ? defaultMs : durationMs(timeout), maxMs);
  const approval: MessageInitShape<typeof ApprovalSchema> = {
    approvalId,
    runId,
    call,
    question,
    state: ApprovalState.PENDING,
    agentId: created?.agentId ?? "",
    threadId: created?.threadId ?? "",
    requestedBy: created?.startedBy ?? "",
    requestedAt: timestampFromMs(nowMs),
    expiresAt: timestampFromMs(nowMs + timeoutMs),
    parentId: scope.parentId,
    ...delegatesOfCall(state, state.frames.get(scope.parentId)),
    gates: [GateKind.QUESTION],
    source: ApprovalSource.RUN,
  };
  return [fact(scope, { case: "approval", value: { approval } })];
}

/** Returns the call with the current state of a question. */
export function recordQuestion(call: Call, approval: Approval): Call {
  const others = call.questions.filter(({ approvalId }) => approvalId !== approval.approvalId);
  return { ...call, questions: [...others, approval] };
}

/** Returns the questions of open calls that are no longer pending. */
export function answeredQuestions(state: RunState): readonly AnsweredQuestion[] {
  return liveFrames(state)
    .flatMap(({ calls }) => calls)
    .filter(({ result }) => result === undefined)
    .flatMap((call) =>
      call.questions
        .filter((approval) => approval.state !== ApprovalState.PENDING)
        .map((approval) => ({ call, approval })),
    );
}

/** Returns the answer for the tool. */
export function answerOf({ question, state, decision }: Approval) {
  const questionId = question?.questionId ?? "";
  switch (state) {
    case ApprovalState.APPROVED:
      return create(AnswerSchema, {
        questionId,
        action: AnswerAction.ACCEPT,
        content: decision?.answer ?? {},
      });
    case ApprovalState.REJECTED:
      return create(AnswerSchema, { questionId, action: AnswerAction.DECLINE });
    default:
      return create(AnswerSchema, { questionId, action: AnswerAction.CANCEL });
  }
}

/** Returns the withdrawals of a call's pending questions, to be placed before the fact of its result. */
export function withdrawQuestions(state: RunState, { scope, event }: Fact): readonly Fact[] {
  if (event.case !== "toolResult") return [];
  const callId = event.value.result?.callId;
  const call = liveFrames(state)
    .flatMap(({ calls }) => calls)
    .find((candidate) => candidate.call.callId === callId);
  const open = call?.questions.filter((approval) => approval.state === ApprovalState.PENDING) ?? [];
  return open.map((approval) => {
    const closed = create(ApprovalSchema, { ...approval, state: ApprovalState.WITHDRAWN });
    return fact(scope, { case: "approval", value: { approval: closed } });
  });
}
