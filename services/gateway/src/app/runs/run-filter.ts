import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ListRunsRequest, Run, RunFilter } from "@reeve/contracts/run";
import { RunFilterSchema } from "@reeve/contracts/run";
import type { OrderRange } from "@reeve/jetstream/local-index/row-outline";

const timeDigits = 15;

/** Returns the place of a time in the order of runs. No run has it: the place of a run ends with its id. */
export function placeOf(time: Timestamp | undefined): string {
  // Of a time before 1970, nothing is left but the start.
  const ms = time === undefined ? 0 : Math.max(timestampMs(time), 0);
  return String(ms).padStart(timeDigits, "0");
}

/** Returns the time at a place. */
export function msOfPlace(place: string): number {
  return Number(place.slice(0, timeDigits));
}

/** Returns the id of the run at a place of the order of runs. */
export function runIdOfPlace(place: string): string {
  return place.slice(timeDigits + 1);
}

/** Returns the places between which the runs are that were accepted at the times of a filter. */
export function placesOf({ createdAfter, createdBefore }: RunFilter): OrderRange {
  return {
    ...(createdAfter && { from: placeOf(createdAfter) }),
    ...(createdBefore && { before: placeOf(createdBefore) }),
  };
}

/** Returns the filter of a request, whose own fields select runs in addition to it. Undefined: nothing matches both. */
export function filterOf({
  agentId,
  threadId,
  statuses,
  filter = create(RunFilterSchema),
}: Pick<ListRunsRequest, "agentId" | "threadId" | "statuses" | "filter">): RunFilter | undefined {
  const agent = sameText(agentId, filter.agentId);
  const thread = sameText(threadId, filter.threadId);
  const both = statuses.filter((status) => filter.statuses.includes(status));
  const isStatusGiven = statuses.length > 0 && filter.statuses.length > 0;
  if (agent === undefined || thread === undefined) return undefined;
  if (isStatusGiven && both.length === 0) return undefined;
  const either = statuses.length > 0 ? statuses : filter.statuses;
  return {
    ...filter,
    agentId: agent,
    threadId: thread,
    statuses: isStatusGiven ? both : [...either],
  };
}

/** Returns what selects the runs that match a filter. */
export function matching(filter: RunFilter): (run: Run) => boolean {
  const text = filter.text.toLowerCase();
  const labels = Object.entries(filter.labels);
  return ({ agentId, threadId, startedBy, runId, inputPreview, ...run }) =>
    (filter.agentId === "" || agentId === filter.agentId) &&
    (filter.threadId === "" || threadId === filter.threadId) &&
    (filter.startedBy === "" || startedBy === filter.startedBy) &&
    (!filter.hasFailedSubtasks || (run.failedSubtasks ?? 0) > 0) &&
    (filter.minCostUsd === 0 || costOfRun(run) >= filter.minCostUsd) &&
    labels.every(([name, value]) => hasLabel(run.labels, name, value)) &&
    (text === "" || [runId, inputPreview].some((part) => part.toLowerCase().includes(text)));
}

/** Returns what a run has cost so far, in US dollars, without model calls without a price. */
export function costOfRun({ cost, spentUsd }: Pick<Run, "cost" | "spentUsd">): number {
  return cost?.costUsd ?? spentUsd ?? 0;
}

function hasLabel(labels: Run["labels"], name: string, value: string): boolean {
  if (!Object.hasOwn(labels, name)) return false;
  return value === "" || labels[name] === value;
}

/** Returns the text that matches both texts, of which an empty one matches everything. Undefined: none does. */
function sameText(a: string, b: string): string | undefined {
  if (a === "" || b === "" || a === b) return a || b;
  return undefined;
}
