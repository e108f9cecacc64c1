import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { answerProblems } from "@reeve/agent/schema/answer-problems";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { askUserName, runtimeSource } from "@reeve/agent/tools/runtime-tools";
import type { QuestionPolicy } from "@reeve/contracts/agent";
import type { AlternativeSchema, ApprovalSchema } from "@reeve/contracts/approval";
import { ApprovalSource, ApprovalState, GateKind } from "@reeve/contracts/approval";
import type { Question, ToolDescriptor } from "@reeve/contracts/tool";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { isPrivateRun } from "@reeve/run/head/private-run";
import { resultBytesIn } from "../../budget/frame-caps.ts";
import { limitsOf } from "../../budget/limits.ts";
import { delegatesOfCall } from "../../delegates/callers-of.ts";
import type { Fact, Scope } from "../../state/fact.ts";
import { fact } from "../../state/fact.ts";
import { workingAgent } from "../../delegates/working-agent.ts";
import type { Call, Frame } from "../../state/frame.ts";
import { scopeOf } from "../../state/frame.ts";
import type { RunState } from "../../state/run-state.ts";
import { questionFor } from "./ask-user-question.ts";
import { classOfCall } from "../class-of-call.ts";
import { decisionProblem } from "../decision-problem.ts";
import { refuse, toolResultFact } from "../tool-result.ts";

/** Whether the calls of a tool are questions to people, which nothing executes. */
export function isAskUser({ name, source }: ToolDescriptor): boolean {
  return name === askUserName && source === runtimeSource;
}

/** Returns the fact that asks the question of a call, or its refusal if it is no valid question. */
export function askQuestion(
  state: RunState,
  pending: Call,
  scope: Scope,
  nowMs: number,
): readonly Fact[] {
  const { call } = pending;
  const question = questionFor(call.arguments ?? {});
  if (typeof question === "string") {
    const content = truncateToBytes(question, limitsOf(state).resultBytes);
    return [refuse(pending, scope, content, ToolStatus.ERROR, nowMs)];
  }
  const { runId, created } = state.head;
  const frame = state.frames.get(scope.parentId);
  const { questions, approvalPolicy } = workingAgent(state, frame).spec ?? {};
  const timeout =
    questions?.timeout ?? approvalPolicy?.timeout ?? created?.spec?.approvalPolicy?.timeout;
  const alternatives = alternativesOf(created, questions);
  if (alternatives === undefined) {
    return [refuse(pending, scope, onlyOthers, ToolStatus.REJECTED, nowMs)];
  }
  const approval: MessageInitShape<typeof ApprovalSchema> = {
    approvalId: call.callId,
    runId,
    call,
    question,
    state: ApprovalState.PENDING,
    agentId: created?.agentId ?? "",
    threadId: created?.threadId ?? "",
    requestedBy: created?.startedBy ?? "",
    requestedAt: timestampFromMs(nowMs),
    parentId: scope.parentId,
    ...delegatesOfCall(state, frame),
    gates: [GateKind.QUESTION],
    permissionClass: classOfCall(state, scope, call.name),
    source: ApprovalSource.RUN,
    alternatives: [...alternatives],
    ...(timeout && { expiresAt: timestampFromMs(nowMs + durationMs(timeout)) }),
  };
  return [fact(scope, { case: "approval", value: { approval } })];
}

const onlyOthers =
  "this run has private data of its user, who alone may answer, and the questions of this agent are for others";

/**
 * Returns who may answer. Empty: everybody. Undefined: nobody, because a private run belongs to its user, and the agent asks others.
 * Whether the user is in a group is checked with the answer.
 */
function alternativesOf(
  created: RunState["head"]["created"],
  questions: QuestionPolicy | undefined,
): readonly MessageInitShape<typeof AlternativeSchema>[] | undefined {
  const { people = [], groups = [] } = questions ?? {};
  const isForAll = people.length === 0 && groups.length === 0;
  if (created === undefined || !isPrivateRun(created))
    return isForAll ? [] : answeredBy(people, groups);
  const { startedBy } = created;
  if (isForAll || people.includes(startedBy)) return answeredBy([startedBy], []);
  return groups.length === 0 ? undefined : answeredBy([], groups);
}

function answeredBy(people: readonly string[], groups: readonly string[]) {
  return [{ name: "answer", people: [...people], groups: [...groups], approvals: 1, denials: 1 }];
}

/** Whether somebody decided whom a service of an earlier version did not refuse: only the user of a private run answers it. */
function isOfAnother({ head: { created } }: RunState, { approval }: Call): boolean {
  const { decision } = approval ?? {};
  if (created === undefined || !isPrivateRun(created) || decision === undefined) return false;
  return decision.decidedBy !== created.startedBy;
}

/** Returns the result of a question that is no longer pending; none while it is. */
export function endQuestion(
  state: RunState,
  frame: Frame,
  pending: Call,
  nowMs: number,
): readonly Fact[] {
  const scope = scopeOf(frame);
  const resultBytes = resultBytesIn(state, frame);
  const refused = (content: string, status: ToolStatus): readonly Fact[] => [
    refuse(pending, scope, truncateToBytes(content, resultBytes), status, nowMs),
  ];
  const { approval, call } = pending;
  const { reason = "", answer = {} } = approval?.decision ?? {};
  if (isOfAnother(state, pending)) {
    return refused(
      "somebody else than the user of the run decided; ask again",
      ToolStatus.REJECTED,
    );
  }
  switch (approval?.state) {
    case ApprovalState.REJECTED:
    case ApprovalState.WITHDRAWN:
      return refused(
        `the person declined to answer${reason === "" ? "" : `: ${reason}`}`,
        ToolStatus.REJECTED,
      );
    case ApprovalState.TIMED_OUT:
      return refused("nobody answered in time", ToolStatus.TIMED_OUT);
    case ApprovalState.APPROVED: {
      const problem = decisionProblem(state, frame, pending) ?? mismatch(approval.question, answer);
      if (problem !== undefined) return refused(problem, ToolStatus.REJECTED);
      const { callId, name } = call;
      const content = truncateToBytes(JSON.stringify(answer), resultBytes);
      const result = create(ToolResultSchema, { callId, name, content });
      return [toolResultFact(pending, scope, result, nowMs)];
    }
    case ApprovalState.SUPERSEDED:
    case ApprovalState.PENDING:
    case ApprovalState.UNSPECIFIED:
    case undefined:
      return [];
  }
  return [];
}

/** A service of an earlier version checks only a part of the schema. */
function mismatch(
  question: Question | undefined,
  answer: NonNullable<Question["schema"]>,
): string | undefined {
  const problems = answerProblems(question?.schema ?? {}, answer);
  if (problems.length === 0) return undefined;
  const list = problems.map(({ field, description }) => `${field} ${description}`.trim());
  return `the answer was accepted, but does not match the schema of the question: ${list.join("; ")}; ask again`;
}
