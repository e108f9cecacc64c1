import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { durationMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { CountRunsRequest, CountRunsResponseSchema, Run } from "@reeve/contracts/run";
import { RunFilterSchema, RunStatus } from "@reeve/contracts/run";
import type { RunLists } from "./run-lists.ts";
import { searchRuns } from "./search-runs.ts";

/** How many times at most one request searches the index: each search reads up to 1,000 runs. */
const maxSearches = 10;
const pageSize = 1_000;
const maxIntervals = 500;

/** What the counted runs of an interval add up to. */
interface Interval {
  runs: number;
  failed: number;
  costUsd: number;
}

/** Counts the newest runs of a tenant that match, by status and by time, and adds up what they cost. */
export async function countRuns(
  lists: RunLists,
  tenant: string,
  { filter = create(RunFilterSchema), interval }: CountRunsRequest,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof CountRunsResponseSchema>> {
  const counts = new Counts(interval);
  let pageToken = "";
  for (let searches = 0; searches < maxSearches; searches++) {
    const page = { filter, pageSize, pageToken };
    const { items, nextPageToken } = await searchRuns(lists, tenant, page, signal);
    for (const run of items) counts.add(run);
    pageToken = nextPageToken;
    if (pageToken === "") break;
  }
  return { ...counts.response(), isPartial: pageToken !== "" };
}

class Counts {
  readonly #intervalMs: number | undefined;
  readonly #statuses = new Map<RunStatus, number>();
  readonly #intervals = new Map<number, Interval>();
  #costUsd = 0;

  constructor(interval: Duration | undefined) {
    this.#intervalMs = interval && durationMs(interval);
  }

  add({ status, createdAt, cost }: Run): void {
    const costUsd = cost?.costUsd ?? 0;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    this.#costUsd += costUsd;
    if (this.#intervalMs === undefined || createdAt === undefined) return;
    const ms = timestampMs(createdAt);
    const startMs = ms - (ms % this.#intervalMs);
    const interval = this.#intervals.get(startMs) ?? { runs: 0, failed: 0, costUsd: 0 };
    this.#intervals.set(startMs, {
      runs: interval.runs + 1,
      failed: interval.failed + (status === RunStatus.ERROR ? 1 : 0),
      costUsd: interval.costUsd + costUsd,
    });
  }

  response() {
    const intervals = [...this.#intervals].toSorted(([a], [b]) => a - b).slice(-maxIntervals);
    return {
      statuses: [...this.#statuses].map(([status, count]) => ({ status, count })),
      costUsd: this.#costUsd,
      intervals: intervals.map(([startMs, sums]) => ({ start: timestampFromMs(startMs), ...sums })),
    };
  }
}
