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
import { searchSlice } from "@reeve/jetstream/local-index/search-rows";
import { RunCounts } from "./run-counts.ts";
import { isKnownWithoutDecoding, visitOutlines } from "./outlined-runs.ts";
import { costOfRun, msOfPlace } from "./run-filter.ts";
import type { RunLists } from "./run-lists.ts";
import { searchedRuns } from "./search-runs.ts";

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

/** Counts by the columns of the index. Returns whether there are older runs. */
async function countIndexed(
  { counts, ...outlined }: Counting,
  signal: AbortSignal,
): Promise<boolean> {
  return await visitOutlines(
    outlined,
    ({ kind, order, amount }) =>
      counts.add({ status: statusOf(kind), createdMs: msOfPlace(order), costUsd: amount }),
    signal,
  );
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
