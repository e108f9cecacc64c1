import type { StreamResponse } from "@a2a-js/sdk";
import { create } from "@bufbuild/protobuf";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { Artifact } from "@reeve/contracts/artifact";
import type { Run } from "@reeve/contracts/run";
import { EventFamiliesSchema, EventFamily } from "@reeve/contracts/run";
import { isTerminal } from "@reeve/run/head/run-status";
import type { GatewayApi } from "./gateway-api.ts";
import { taskLabel } from "./message/read-message.ts";
import { endedTask } from "./task/ended-task.ts";
import { renderTask } from "./task/render-task.ts";
import type { TaskChange, TaskView } from "./task/task-view.ts";
import {
  applyToTask,
  hasEnded,
  inputParts,
  submittedTask,
  taskFamilies,
} from "./task/task-view.ts";

/** The most files of a run that a task names. */
const maxFiles = 100;

/** The agent whose tasks are watched. */
export interface WatchedAgent {
  readonly agentId: string;
  /** Returns the address under which a client reads a file. */
  urlOf(artifactId: string): string;
}

/**
 * Yields a task as it is now, with the task itself as its only update, and then each change, up to its end. Everything follows from the
 * log of the run. Throws an A2AError if the agent has no such task.
 */
export async function* watchTask(
  api: GatewayApi,
  agent: WatchedAgent,
  taskId: string,
  signal: AbortSignal,
): AsyncGenerator<TaskChange, void, undefined> {
  const run = await runOfTask(api, agent, taskId, signal);
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  try {
    let view = await startOf(api, run, until);
    let isCurrent = false;
    const selection = select(taskFamilies);
    for await (const message of api.runs.watchRun(
      { runId: taskId, selection },
      { signal: until },
    )) {
      const updates: StreamResponse[] = [];
      for (const event of message.events) {
        const change = applyToTask(view, event);
        view = change.view;
        // Before that, the task itself is the only update.
        if (isCurrent) updates.push(...change.updates);
      }
      if (isTerminal(message.endStatus)) {
        const change = endedTask(view, await outcomeOf(api, agent, taskId, until));
        view = change.view;
        updates.push(...change.updates);
      }
      if (isCurrent) {
        if (updates.length > 0) yield { view, updates };
        continue;
      }
      // An empty message says that nothing more is there.
      const isEmpty = message.events.length === 0;
      if (isEmpty || message.throughSequence >= run.lastSequence || hasEnded(view)) {
        isCurrent = true;
        yield { view, updates: [taskUpdate(view)] };
      }
    }
  } finally {
    left.abort();
  }
}

/** Returns a task as it is now. */
export async function readTask(
  api: GatewayApi,
  agent: WatchedAgent,
  taskId: string,
  signal: AbortSignal,
): Promise<TaskView> {
  for await (const { view } of watchTask(api, agent, taskId, signal)) return view;
  throw new TaskNotFoundError({ message: `task ${taskId} not found` });
}

function select(families: readonly EventFamily[]) {
  const value = create(EventFamiliesSchema, { families: [...families] });
  return { case: "families" as const, value };
}

function taskUpdate(view: TaskView): StreamResponse {
  return { payload: { $case: "task", value: renderTask(view, undefined) } };
}

/** Throws an A2AError if the run does not exist, is one of another agent, or was not started through A2A. */
export async function runOfTask(
  api: GatewayApi,
  { agentId }: WatchedAgent,
  taskId: string,
  signal: AbortSignal,
): Promise<Run> {
  const notFound = () =>
    new TaskNotFoundError({ message: `agent ${agentId} has no task ${taskId}` });
  if (taskId === "") throw notFound();
  const { run } = await api.runs.getRun({ runId: taskId }, { signal });
  if (run?.agentId !== agentId || run.labels[taskLabel] === undefined) throw notFound();
  return run;
}

/** The input is in the first fact of a log, which is a record. */
async function startOf(api: GatewayApi, run: Run, signal: AbortSignal): Promise<TaskView> {
  const ids = { taskId: run.runId, contextId: run.threadId };
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  const selection = select([EventFamily.RECORD]);
  try {
    const watched = api.runs.watchRun({ runId: run.runId, selection }, { signal: until });
    for await (const { events } of watched) {
      for (const { event } of events) {
        if (event.case !== "runCreated") continue;
        return submittedTask(ids, inputParts(event.value.input, event.value.parts));
      }
    }
  } finally {
    left.abort();
  }
  return submittedTask(ids, []);
}

async function outcomeOf(
  api: GatewayApi,
  { urlOf }: WatchedAgent,
  runId: string,
  signal: AbortSignal,
) {
  const { run } = await api.runs.getRun({ runId }, { signal });
  if (run === undefined) throw new TaskNotFoundError({ message: `task ${runId} not found` });
  const sent = new Set(
    run.inputParts.map(({ part }) => (part.case === "file" ? part.value.artifactId : "")),
  );
  const { artifacts } = await api.artifacts.listArtifacts(
    { runId, pageSize: maxFiles },
    { signal },
  );
  const files: readonly Artifact[] = artifacts.filter(({ artifactId }) => !sent.has(artifactId));
  return { run, files, urlOf };
}
