import type { RunFilter } from "@reeve/contracts/run";
import type { OrderRange, RowOutline } from "@reeve/jetstream/local-index/row-outline";
import { placesOf } from "./run-filter.ts";
import type { RunLists } from "./run-lists.ts";

/** How many runs are looked at. Those that a second field of the filter excludes count as well. */
const maxOutlinedRuns = 10_000;
/** How many runs are read from the index at once: a large index must not keep the process from other work. */
const maxSlice = 1_000;

type SearchableRuns = Parameters<Parameters<RunLists["read"]>[1]>[0];

/** Whether the index knows which runs match without their records. */
export function isKnownWithoutDecoding(filter: RunFilter): boolean {
  const { text, labels, hasFailedSubtasks } = filter;
  return text === "" && Object.keys(labels).length === 0 && !hasFailedSubtasks;
}

interface Outlined {
  readonly lists: RunLists;
  readonly tenant: string;
  /** A text, labels, and failed subtasks select nothing here. */
  readonly filter: RunFilter;
}

/** Calls `visit` with what the index knows of the newest runs that match. Returns whether there are older runs. */
export async function visitOutlines(
  { lists, tenant, filter }: Outlined,
  visit: (outline: RowOutline) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const { agentId, threadId, startedBy, statuses, minCostUsd } = filter;
  const fields = {
    ...(threadId !== "" && { thread_id: threadId }),
    ...(startedBy !== "" && { started_by: startedBy }),
    ...(agentId !== "" && { agent_id: agentId }),
  };
  const selection = { tenant, fields, ...(statuses.length > 0 && { kinds: statuses }) };
  let range: OrderRange = placesOf(filter);
  for (let left = maxOutlinedRuns; left > 0; left -= maxSlice) {
    const slice = range;
    const read = (rows: SearchableRuns) => rows.outline(selection, slice, maxSlice + 1);
    const outlines = await lists.read(tenant, read, signal);
    const seen = outlines.slice(0, maxSlice);
    for (const outline of seen) {
      if (outline.isSelected && outline.amount >= minCostUsd) visit(outline);
    }
    const last = seen.at(-1);
    if (last === undefined || outlines.length <= maxSlice) return false;
    // Lists of runs show the newest first.
    range = { ...range, before: last.order };
  }
  return true;
}
