import { clone, create } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { previewOf } from "../tree/preview-of.ts";
import { RunCreatedSchema } from "@reeve/contracts/run";
import type { Thread, ThreadEvent, TurnQueued } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";

const titleCharacters = 200;

/**
 * Returns a thread as clients see it after `events`; undefined for a deleted one. An event of a kind that only a newer
 * version knows changes nothing but `lastSequence`.
 */
export function threadRow(before: Thread, events: readonly ThreadEvent[]): Thread | undefined {
  const row = clone(ThreadSchema, before);
  for (const event of events) {
    if (event.event.case === "threadDeleted") return undefined;
    apply(row, event);
  }
  row.unsettled = row.activeRunId !== "" || row.queuedRunIds.length > 0;
  return row;
}

/** Returns the row of a thread before its first event. */
export function emptyRow(threadId: string): Thread {
  return create(ThreadSchema, { threadId });
}

function apply(row: Thread, { event, time, sequence }: ThreadEvent): void {
  row.lastSequence = sequence;
  if (time !== undefined) row.updatedAt = time;
  switch (event.case) {
    case "turnQueued":
      if (row.createdAt === undefined) row.title = titleOf(event.value);
      if (time !== undefined) row.createdAt ??= time;
      row.queuedRunIds.push(event.value.runId);
      break;
    case "turnStarted":
      row.activeRunId = event.value.runId;
      row.queuedRunIds = without(row.queuedRunIds, event.value.runId);
      break;
    case "turnEnded":
      if (row.activeRunId === event.value.runId) {
        row.activeRunId = "";
        row.endedTurns += 1;
      }
      row.queuedRunIds = without(row.queuedRunIds, event.value.runId);
      break;
    case "threadDeleted":
      break;
    case undefined:
      break;
  }
}

function titleOf({ runCreated }: TurnQueued): string {
  const created = runCreated && anyUnpack(runCreated, RunCreatedSchema);
  return previewOf(created?.input ?? "", titleCharacters);
}

function without(runIds: readonly string[], runId: string): string[] {
  return runIds.filter((id) => id !== runId);
}
