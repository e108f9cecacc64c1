import type { RunCreated } from "../gen/reeve/run/v1/run_event_pb.ts";

const threadPrefix = "thread-";

/**
 * Id of the workspace of a run: its own, or that of its thread where its agent shares files so. The prefix keeps threads,
 * whose ids clients choose, apart from runs.
 */
export function workspaceIdOf(
  runId: string,
  created: Pick<RunCreated, "threadId" | "spec"> | undefined,
): string {
  const isShared = created?.spec?.deepAgent?.workspaceScope === "thread";
  return isShared && created?.threadId ? threadWorkspaceId(created.threadId) : runId;
}

/** Id of the workspace of a thread. */
export function threadWorkspaceId(threadId: string): string {
  return `${threadPrefix}${threadId}`;
}

/** The thread whose workspace has this id. Undefined: it is that of a run. */
export function threadIdOf(workspaceId: string): string | undefined {
  return workspaceId.startsWith(threadPrefix) ? workspaceId.slice(threadPrefix.length) : undefined;
}

/** In place of a host: whichever toolhost takes the request first. */
export const anyHost = "any";
