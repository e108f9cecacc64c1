import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  CountRunsRequest,
  CountRunsResponseSchema,
  Run,
  RunFilter,
} from "@reeve/contracts/run";
import { RunFilterSchema, RunStatus } from "@reeve/contracts/run";
import type { OrderRange } from "@reeve/jetstream/local-index/row-outline";
import { searchSlice } from "@reeve/jetstream/local-index/search-rows";
import { RunCounts } from "./run-counts.ts";
import { costOfRun, msOfPlace, placesOf } from "./run-filter.ts";
import type { RunLists } from "./run-lists.ts";
import { searchedRuns } from "./search-runs.ts";

/** How many runs are counted at most. Those that a second field of the filter excludes count as well. */
const maxCounted = 10_000;
/** How many runs are read from the index at once: a large index must not keep the process from other work. */
const maxOutlined = 1_000;
/** How many times at most a text or labels are searched: each search decodes up to 1,000 runs. */
const maxSearches = 10;

/** Counts the newest runs of a tenant that match, by status and by time, and adds up what they cost. */
export async function countRuns(
  lists: RunLists,
  tenant: string,
  { filter = create(RunFilterSchema), interval }: CountRunsRequest,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof CountRunsResponseSchema>> {
  const counts = new RunCounts(interval);
  const isPartial = isKnownWithoutDecoding(filter)
    ? await countIndexed({ lists, tenant, filter, counts }, signal)
    : await countSearched({ lists, tenant, filter, counts }, signal);
  return counts.response(isPartial);
}

type SearchableRuns = Parameters<Parameters<RunLists["read"]>[1]>[0];

interface Counting {
  readonly lists: RunLists;
  readonly tenant: string;
  readonly filter: RunFilter;
  readonly counts: RunCounts;
}

function isKnownWithoutDecoding({ text, labels }: RunFilter): boolean {
  return text === "" && Object.keys(labels).length === 0;
}

/** Counts by the columns of the index. Returns whether there are older runs. */
async function countIndexed(
  { lists, tenant, filter, counts }: Counting,
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
  for (let left = maxCounted; left > 0; left -= maxOutlined) {
    const slice = range;
    const read = (rows: SearchableRuns) => rows.outline(selection, slice, maxOutlined + 1);
    const outlines = await lists.read(tenant, read, signal);
    const counted = outlines.slice(0, maxOutlined);
    for (const { kind, order, amount, isSelected } of counted) {
      if (!isSelected || amount < minCostUsd) continue;
      counts.add({ status: statusOf(kind), createdMs: msOfPlace(order), costUsd: amount });
    }
    const last = counted.at(-1);
    if (last === undefined || outlines.length <= maxOutlined) return false;
    // Lists of runs show the newest first.
    range = { ...range, before: last.order };
  }
  return true;
}

/** Counts by decoding runs, in slices, so that the process does other work in between. Returns whether there may be older runs. */
async function countSearched(
  { lists, tenant, filter, counts }: Counting,
  signal: AbortSignal,
): Promise<boolean> {
  const searched = searchedRuns(tenant, filter);
  const add = (run: Run) => {
    const { status, createdAt } = run;
    const createdMs = createdAt === undefined ? 0 : timestampMs(createdAt);
    counts.add({ status, createdMs, costUsd: costOfRun(run) });
  };
  let pageToken = "";
  for (let searches = 0; searches < maxSearches; searches++) {
    const from = pageToken;
    const slice = (rows: SearchableRuns) => searchSlice(rows, searched, from, add);
    pageToken = await lists.read(tenant, slice, signal);
    if (pageToken === "") return false;
  }
  return true;
}

const statuses: ReadonlyMap<number, RunStatus> = new Map(
  Object.values(RunStatus).flatMap((status) =>
    typeof status === "number" ? [[status, status]] : [],
  ),
);

/** A status of a newer version has no kind of its own. */
function statusOf(kind: number): RunStatus {
  return statuses.get(kind) ?? RunStatus.UNSPECIFIED;
}
