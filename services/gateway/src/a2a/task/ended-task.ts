import type { Artifact as TaskArtifact, Message, Part } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { usageMetadata } from "@reeve/agent/resolve/remote-usage";
import type { Artifact } from "@reeve/contracts/artifact";
import type { Run } from "@reeve/contracts/run";
import { IncompleteReason, RunStatus } from "@reeve/contracts/run";
import { agentMessage, artifact, dataPart, filePart, textPart } from "./parts.ts";
import { timeOf } from "./request-parts.ts";
import type { TaskChange, TaskView } from "./task-view.ts";
import { answerId, answerText, idsOf } from "./task-view.ts";
import { artifactUpdate, statusUpdate } from "./updates.ts";

/** What a run that has ended has produced. */
export interface RunOutcome {
  readonly run: Run;
  /** The files that it has produced. */
  readonly files: readonly Artifact[];
  /** Returns the address under which a client reads a file. */
  urlOf(artifactId: string): string;
}

/** Returns the view of a run that has ended: its answer, its files, and its state, in the order of the updates. */
export function endedTask(before: TaskView, { run, files, urlOf }: RunOutcome): TaskChange {
  const state = stateOf(run.status);
  const answer = answerOf(before, run);
  const artifacts = [
    ...(answer === undefined ? [] : [answer]),
    ...files.map(({ artifactId, name, mediaType }) =>
      artifact(artifactId, name, [filePart(urlOf(artifactId), mediaType, name)]),
    ),
  ];
  const view: TaskView = {
    ...before,
    state,
    changedAt: run.endedAt && timeOf(run.endedAt),
    waiting: new Map(),
    message: endMessage(before, run),
    artifacts,
    metadata: { ...incompleteOf(run), ...(run.cost && usageMetadata(run.cost)) },
  };
  const isComplete = answer === undefined || isKnown(before, answer);
  const shown = isComplete ? artifacts.filter((each) => each !== answer) : artifacts;
  const ids = idsOf(before);
  const updates = shown.map((each) =>
    artifactUpdate(ids, each, { append: false, lastChunk: true }),
  );
  return { view, updates: [...updates, statusUpdate(view, view.metadata)] };
}

/** The state of a task whose run has this status. */
export function stateOf(status: RunStatus): TaskState {
  switch (status) {
    case RunStatus.COMPLETED:
      return TaskState.TASK_STATE_COMPLETED;
    case RunStatus.ERROR:
      return TaskState.TASK_STATE_FAILED;
    case RunStatus.CANCELLED:
      return TaskState.TASK_STATE_CANCELED;
    case RunStatus.QUEUED:
      return TaskState.TASK_STATE_SUBMITTED;
    case RunStatus.STARTING:
    case RunStatus.RUNNING:
    case RunStatus.WAITING:
      return TaskState.TASK_STATE_WORKING;
    case RunStatus.UNSPECIFIED:
      return TaskState.TASK_STATE_UNSPECIFIED;
  }
  // A status of a newer version.
  return TaskState.TASK_STATE_UNSPECIFIED;
}

/** A run that did not complete keeps what it has said. */
function answerOf(
  view: TaskView,
  { status, output, structuredOutput }: Run,
): TaskArtifact | undefined {
  const isCompleted = status === RunStatus.COMPLETED;
  const text = isCompleted ? output : answerText(view);
  const parts: Part[] =
    isCompleted && structuredOutput !== undefined
      ? [dataPart(structuredOutput)]
      : text === ""
        ? []
        : [textPart(text)];
  return parts.length === 0 ? undefined : artifact(answerId, answerId, parts);
}

/** Whether the client has the answer already, so that it is not sent twice. */
function isKnown(view: TaskView, { parts }: TaskArtifact): boolean {
  const [part] = parts;
  return (
    !view.replacesAnswer &&
    part?.content?.$case === "text" &&
    part.content.value === answerText(view)
  );
}

function endMessage(view: TaskView, { status, error }: Run): Message | undefined {
  if (status !== RunStatus.ERROR) return undefined;
  const { reason = "", message = "" } = error ?? view.error ?? {};
  const parts = [textPart(message === "" ? "the run failed" : message), dataPart({ reason })];
  return agentMessage(idsOf(view), `${view.taskId}-end`, parts);
}

function incompleteOf({ incompleteReason }: Run): Readonly<Record<string, string>> | undefined {
  switch (incompleteReason) {
    case IncompleteReason.TRUNCATED:
      return { incomplete: "truncated" };
    case IncompleteReason.FILTERED:
      return { incomplete: "filtered" };
    case IncompleteReason.UNSPECIFIED:
      return undefined;
  }
}
