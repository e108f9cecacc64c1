import type { RunCreated } from "../../gen/reeve/run/v1/run_event_pb.ts";
import type { Workspace } from "../../gen/reeve/tool/v1/tool_pb.ts";

const threadPrefix = "thread-";

/**
 * Returns the id of the workspace of a run: the run's own, that of its thread if its agent shares files within the thread, or that
 * of the run that it continues. The prefix keeps threads, whose ids clients choose, apart from runs.
 */
export function workspaceIdOf(
  runId: string,
  created: Pick<RunCreated, "threadId" | "spec" | "workspaceId"> | undefined,
): string {
  if (created?.workspaceId) return created.workspaceId;
  const isShared = created?.spec?.deepAgent?.workspaceScope === "thread";
  return isShared && created?.threadId ? threadWorkspaceId(created.threadId) : runId;
}

/**
 * Returns the workspace that a run has in requests to toolhosts. Runs that continue each other have one workspace, into which
 * the input files are staged once, for the first of them.
 */
export function workspaceOf(
  runId: string,
  created: RunCreated | undefined,
): Pick<Workspace, "id" | "files" | "stagedFor"> {
  const [first = runId] = created?.inherited?.runIds ?? [];
  return { id: workspaceIdOf(runId, created), files: created?.files ?? [], stagedFor: first };
}

/** Returns the id of the workspace of a thread. */
export function threadWorkspaceId(threadId: string): string {
  return `${threadPrefix}${threadId}`;
}

/** Returns the thread of a workspace, or undefined when the workspace belongs to a run. */
export function threadIdOf(workspaceId: string): string | undefined {
  return workspaceId.startsWith(threadPrefix) ? workspaceId.slice(threadPrefix.length) : undefined;
}

/** Used in place of a host: any toolhost may take the request. */
export const anyHost = "any";
