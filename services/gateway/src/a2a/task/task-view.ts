import type { Artifact, Message, Part, StreamResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RemoteUsage } from "@reeve/agent/resolve/remote-usage";
import { noRemoteUsage, usageMetadata } from "@reeve/agent/resolve/remote-usage";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { RunError, RunEvent, Usage } from "@reeve/contracts/run";
import { EventFamily, Phase, RunStatus } from "@reeve/contracts/run";
import { agentMessage, artifact, dataPart, textPart, userMessage } from "./parts.ts";
import { requestParts, timeOf } from "./request-parts.ts";
import { artifactUpdate, statusUpdate } from "./updates.ts";

/** The families of events from which the view follows. */
export const taskFamilies: readonly EventFamily[] = [
  EventFamily.STATUS,
  EventFamily.TEXT,
  EventFamily.TEXT_VOIDED,
  EventFamily.APPROVAL,
  EventFamily.MESSAGE_INJECTED,
  EventFamily.ERROR,
  EventFamily.USAGE,
];

/** The id of the artifact that has the answer. */
export const answerId = "answer";

/** What an A2A client sees of a run: a fold of the events of its log. Never changed in place. */
export interface TaskView {
  /** The id of the run. */
  readonly taskId: string;
  /** The id of its thread. */
  readonly contextId: string;
  readonly state: TaskState;
  /** When the state changed, as ISO 8601. */
  readonly changedAt: string | undefined;
  readonly message: Message | undefined;
  /** The last piece of the text that the client has as the answer. Undefined: it has none. */
  readonly answer: AnswerText | undefined;
  /** Whether the next text replaces what the client has. */
  readonly replacesAnswer: boolean;
  /** What the task waits for, by approval id, oldest first. */
  readonly waiting: ReadonlyMap<string, Approval>;
  /** Ids of the decisions that were made. */
  readonly decisions: ReadonlySet<string>;
  readonly history: readonly Message[];
  readonly error: RunError | undefined;
  /** The artifacts of a task that has ended. */
  readonly artifacts: readonly Artifact[];
  /** What the models of the task have used so far. */
  readonly used: RemoteUsage;
  /** What the task says besides its state: what it has used, if it has stopped, and `incomplete`, if its answer is. */
  readonly metadata: JsonObject | undefined;
}

/** A piece of an answer. The pieces are a list, so that one more costs the same however many there are. */
interface AnswerText {
  /** The piece before it. Undefined: it is the first. */
  readonly before: AnswerText | undefined;
  readonly sequence: number;
  readonly step: number;
  readonly text: string;
}

/** A view, and the updates for a client that had the view before. */
export interface TaskChange {
  readonly view: TaskView;
  readonly updates: readonly StreamResponse[];
}

/** The view of a run that was accepted, before its first event. `input` is the message that started it. */
export function submittedTask(
  ids: Pick<TaskView, "taskId" | "contextId">,
  input: readonly Part[],
): TaskView {
  const message = userMessage(ids, `${ids.taskId}-input`, [...input]);
  return {
    ...ids,
    state: TaskState.TASK_STATE_SUBMITTED,
    changedAt: undefined,
    message: undefined,
    answer: undefined,
    replacesAnswer: false,
    waiting: new Map(),
    decisions: new Set(),
    history: input.length === 0 ? [] : [message],
    error: undefined,
    artifacts: [],
    used: noRemoteUsage,
    metadata: undefined,
  };
}

/** Returns the view after one more event. Events of other kinds change nothing. The end of a run is left to `endedTask`. */
export function applyToTask(before: TaskView, event: RunEvent): TaskChange {
  switch (event.event.case) {
    case "status":
      return event.event.value.status === RunStatus.STARTING
        ? withState(before, TaskState.TASK_STATE_WORKING, event)
        : unchanged(before);
    case "text":
      return isAnswer(event) ? withText(before, event, event.event.value.text) : unchanged(before);
    case "textVoided": {
      const { firstSequence } = event.event.value;
      if (!isAnswer(event)) return unchanged(before);
      let { answer } = before;
      while (answer !== undefined && answer.sequence >= firstSequence) answer = answer.before;
      return unchanged({ ...before, answer, replacesAnswer: true });
    }
    case "approval": {
      const { approval } = event.event.value;
      return approval === undefined ? unchanged(before) : withApproval(before, approval, event);
    }
    case "messageInjected": {
      const { messageId, message } = event.event.value;
      if (event.parentId !== "" || message === undefined) return unchanged(before);
      const parts = [textPart(message.text), ...message.parts.map(partOf)];
      const history = [...before.history, userMessage(idsOf(before), messageId, parts)];
      return unchanged({ ...before, history });
    }
    case "error":
      return unchanged(event.parentId === "" ? { ...before, error: event.event.value } : before);
    case "usage":
      return unchanged({ ...before, used: withUsage(before.used, event.event.value) });
    case "reasoning":
    case "toolCall":
    case "mcpProgress":
    case "toolResult":
    case "step":
    case "context":
    case "plan":
    case "subtask":
    case "budgetExceeded":
    case "costSummary":
    case "runCreated":
    case "runClaimed":
    case "runParked":
    case "runPrepared":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "messageSubmitted":
    case "cancelRequested":
    case "toolCallStarted":
    case "memoryWritten":
    case "todosChanged":
    case "treeStored":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "pluginHookFinished":
    case "runEnding":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case undefined:
      return unchanged(before);
  }
}

/** Returns the parts of the input of a run. */
export function inputParts(text: string, parts: readonly ContentPart[]): readonly Part[] {
  return [textPart(text), ...parts.map(partOf)];
}

/** A file is named, not repeated: the client has sent it. */
function partOf({ part }: ContentPart): Part {
  if (part.case !== "file") return textPart(part.value ?? "");
  const { artifactId, name, mediaType, sizeBytes } = part.value;
  return { ...dataPart({ artifactId, sizeBytes }), filename: name, mediaType };
}

/** Whether a client waits no longer for a task: it has ended, or it needs an answer. */
export function isSettled({ state }: TaskView): boolean {
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || hasEnded({ state });
}

export function hasEnded({ state }: Pick<TaskView, "state">): boolean {
  return (
    state === TaskState.TASK_STATE_COMPLETED ||
    state === TaskState.TASK_STATE_FAILED ||
    state === TaskState.TASK_STATE_CANCELED
  );
}

export function idsOf({ taskId, contextId }: TaskView): Pick<TaskView, "taskId" | "contextId"> {
  return { taskId, contextId };
}

/** Returns the text that the client has as the answer. */
export function answerText({ answer }: Pick<TaskView, "answer">): string {
  const texts: string[] = [];
  for (let each = answer; each !== undefined; each = each.before) texts.push(each.text);
  return texts.toReversed().join("");
}

/** Returns the answer as an artifact. Undefined: there is no text yet. */
export function answerSoFar(view: TaskView): Artifact | undefined {
  const text = answerText(view);
  return text === "" ? undefined : artifact(answerId, answerId, [textPart(text)]);
}

function unchanged(view: TaskView): TaskChange {
  return { view, updates: [] };
}

function withUsage(before: RemoteUsage, usage: Usage): RemoteUsage {
  const { costUsd } = usage;
  const isPriced = before.costUsd !== undefined && costUsd !== undefined;
  return {
    inputTokens: before.inputTokens + usage.inputTokens,
    outputTokens: before.outputTokens + usage.outputTokens,
    cachedInputTokens: before.cachedInputTokens + usage.cachedInputTokens,
    cacheWriteInputTokens: before.cacheWriteInputTokens + usage.cacheWriteInputTokens,
    costUsd: isPriced ? (before.costUsd ?? 0) + costUsd : undefined,
  };
}

function isAnswer({ parentId, phase }: RunEvent): boolean {
  return parentId === "" && phase !== Phase.PLANNER;
}

function withState(before: TaskView, state: TaskState, event: RunEvent): TaskChange {
  if (before.state === state && before.message === undefined) return unchanged(before);
  const changedAt = event.time && timeOf(event.time);
  const view = { ...before, state, changedAt, message: undefined, metadata: undefined };
  return { view, updates: [statusUpdate(view)] };
}

/** The text of a step replaces that of an earlier one, which preceded calls. */
function withText(before: TaskView, { sequence, stepNumber }: RunEvent, text: string): TaskChange {
  const isFirst = before.answer?.step !== stepNumber;
  const earlier = isFirst ? undefined : before.answer;
  const answer = { before: earlier, sequence, step: stepNumber, text };
  const isWhole = isFirst || before.replacesAnswer;
  const view = { ...before, answer, replacesAnswer: false };
  const shown = isWhole ? answerText(view) : text;
  const update = artifactUpdate(view, artifact(answerId, answerId, [textPart(shown)]), {
    append: !isWhole,
    lastChunk: false,
  });
  return { view, updates: [update] };
}

function withApproval(before: TaskView, approval: Approval, event: RunEvent): TaskChange {
  const waiting = new Map(before.waiting);
  const { approvalId, decision, question } = approval;
  const isPending = approval.state === ApprovalState.PENDING;
  if (isPending) waiting.set(approvalId, approval);
  else waiting.delete(approvalId);
  const decisions = decision
    ? new Set(before.decisions).add(decision.decisionId)
    : before.decisions;
  const asked =
    !isPending && question && decision?.answer
      ? [
          agentMessage(idsOf(before), `${approvalId}-question`, [...requestParts(approval)]),
          userMessage(idsOf(before), `${approvalId}-answer`, [dataPart(decision.answer)]),
        ]
      : [];
  const after = { ...before, waiting, decisions, history: [...before.history, ...asked] };
  if (waiting.size === 0) return withState(after, TaskState.TASK_STATE_WORKING, event);
  const parts = [...waiting.values()].flatMap(requestParts);
  const view = {
    ...after,
    state: TaskState.TASK_STATE_INPUT_REQUIRED,
    changedAt: event.time && timeOf(event.time),
    message: agentMessage(idsOf(before), `${before.taskId}-${event.sequence}`, parts),
    metadata: usageMetadata(before.used),
  };
  return { view, updates: [statusUpdate(view, view.metadata)] };
}
