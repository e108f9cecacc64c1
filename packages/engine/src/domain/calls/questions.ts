import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { Question } from "@reeve/contracts/tool";
import { AnswerAction, AnswerSchema } from "@reeve/contracts/tool";
import type { Fact, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";

/** How long a person has to answer: whoever asks waits with an open connection. */
const defaultMs = 600_000;
const maxMs = 1_500_000;

/** A question that somebody has answered, or nobody in time. */
export interface AnsweredQuestion {
  readonly call: Call;
  readonly approval: Approval;
}

/** What a tool asks becomes an approval, unless the run knows of it already. */
export function requestAnswer(
  { head: { runId, created } }: RunState,
  { call, questions }: Call,
  question: Question,
  scope: Scope,
  nowMs: number,
): readonly Fact[] {
  const approvalId = `${call.callId}-${question.questionId}`;
  if (questions.some((known) => known.approvalId === approvalId)) return [];
  const timeout = created?.spec?.approvalPolicy?.timeout;
  const givenMs = Math.min(timeout === undefined ? defaultMs : durationMs(timeout), maxMs);
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
    expiresAt: timestampFromMs(nowMs + givenMs),
    parentId: scope.parentId,
  };
  return [fact(scope, { case: "approval", value: { approval } })];
}

/** The call with a question as it now stands. */
export function recordQuestion(call: Call, approval: Approval): Call {
  const others = call.questions.filter(({ approvalId }) => approvalId !== approval.approvalId);
  return { ...call, questions: [...others, approval] };
}

/** The questions of running calls that have been answered, or will not be. */
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

/** What a tool is told of the answer to its question. */
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

/** What comes before a fact: the questions of a call whose result it is are not asked any more. */
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
