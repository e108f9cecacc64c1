import type { Task } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import type { Run } from "@reeve/contracts/run";
import { RunWaitKind } from "@reeve/contracts/run";
import { stateOf } from "./ended-task.ts";
import { timeOf } from "./request-parts.ts";
import type { TaskView } from "./task-view.ts";
import { answerSoFar, hasEnded } from "./task-view.ts";
import { statusOf } from "./updates.ts";

/** Returns a task with at most `historyLength` messages, the newest. Undefined: all of them. */
export function renderTask(view: TaskView, historyLength: number | undefined): Task {
  const { taskId: id, contextId, history, metadata } = view;
  const answer = answerSoFar(view);
  return {
    id,
    contextId,
    status: statusOf(view),
    artifacts: hasEnded(view) ? [...view.artifacts] : answer === undefined ? [] : [answer],
    history: newest(history, historyLength),
    metadata,
  };
}

/** Returns a run of a list as a task, without its history and its artifacts. */
export function renderRow(run: Run): Task {
  const waits = run.waitingFor.some(({ kind }) => kind === RunWaitKind.DECISION);
  const ended = run.endedAt ?? run.createdAt;
  return {
    id: run.runId,
    contextId: run.threadId,
    status: {
      state: waits ? TaskState.TASK_STATE_INPUT_REQUIRED : stateOf(run.status),
      message: undefined,
      timestamp: ended && timeOf(ended),
    },
    artifacts: [],
    history: [],
    metadata: undefined,
  };
}

function newest<Item>(items: readonly Item[], length: number | undefined): Item[] {
  return length === undefined
    ? [...items]
    : items.slice(items.length - Math.min(length, items.length));
}
