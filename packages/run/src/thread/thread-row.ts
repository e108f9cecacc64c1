import { create } from "@bufbuild/protobuf";
import type { Thread, ThreadHead } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";
import { activeTurn, waitingTurns } from "./thread-head.ts";

/** Returns a thread as clients see it; undefined for one that does not exist or is deleted. */
export function threadRow(threadId: string, head: ThreadHead): Thread | undefined {
  if (head.sequence === 0 || head.deleted) return undefined;
  const { title, createdAt, updatedAt, endedTurns, openTurns } = head;
  return create(ThreadSchema, {
    threadId,
    title,
    ...(createdAt && { createdAt }),
    ...(updatedAt && { updatedAt }),
    activeRunId: activeTurn(head)?.runId ?? "",
    queuedRunIds: waitingTurns(head).map(({ runId }) => runId),
    endedTurns,
    lastSequence: head.sequence,
    unsettled: openTurns.length > 0,
  });
}
