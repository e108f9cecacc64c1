import type { RunCreated } from "../gen/reeve/run/v1/run_event_pb.ts";

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
  return `thread-${threadId}`;
}

/** In place of a host: whichever toolhost takes the request first. */
export const anyHost = "any";
