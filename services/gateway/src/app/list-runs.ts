import { timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { ListRunsRequest, Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import type { AgendaDefinition } from "@reeve/jetstream/local-index/agenda";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/followed-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Page } from "@reeve/jetstream/table/page";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { isTerminal } from "@reeve/run/head/run-status";
import type { Owners } from "../quotas/quota.ts";
import { costOfRun, filterOf, placeOf } from "./runs/run-filter.ts";
import type { RunField, RunLists } from "./runs/run-lists.ts";
import { searchRuns } from "./runs/search-runs.ts";

const statuses = Object.values(RunStatus).filter((status) => typeof status === "number");

const definition: IndexDefinition<Run, RunField> = {
  name: "runs",
  version: 5,
  // Within one millisecond, runs are ordered by id.
  orderOf: ({ createdAt, runId }) => `${placeOf(createdAt)}.${runId}`,
  direction: "descending",
  kindOf: ({ status }) => status,
  kinds: statuses,
  isListed: ({ deleting }) => !deleting,
  // A thread has fewer runs than an agent, so lists that are filtered by both are read by the thread.
  fields: {
    thread_id: ({ threadId }) => threadId,
    agent_id: ({ agentId }) => agentId,
    started_by: ({ startedBy }) => startedBy,
  },
  // Quotas sum up the runs that have ended, and lists show what others have cost so far.
  measure: {
    at: ({ endedAt }) => (endedAt === undefined ? 0 : timestampMs(endedAt)),
    amount: costOfRun,
  },
};

/** Time after a change of a run during which its writer may finish; then the run is swept. */
const graceMs = 10_000;

/** Where the indexes with an agenda are. */
export interface SweptIndexHome extends IndexHome {
  /** When what is on the agenda is due. */
  readonly clock: Pick<Clock, "now">;
}

/** Opens the lists of an index of runs, and the agenda of its sweeper. They follow it until `signal` aborts. */
export function openRunLists(
  runs: Table<Run>,
  { clock, ...home }: SweptIndexHome,
  signal: AbortSignal,
): RunLists {
  const agenda: AgendaDefinition = {
    closedKinds: statuses.filter(isTerminal),
    graceMs,
    now: () => clock.now(),
  };
  return new TableIndex(runs, { ...home, schema: RunSchema, definition, agenda }, signal);
}

const openStatuses = statuses.filter((status) => !isTerminal(status));

/** Which runs of a tenant have not ended. */
export interface OpenRuns {
  readonly open: number;
  /** Those that no worker has taken yet. */
  readonly queued: number;
  /** Those of the given runs that are not in the index: they do not exist yet. */
  readonly missing: readonly string[];
}

/**
 * Counts the runs of a tenant, or of some subjects of it, that have not ended, each count up to `limit`. Has every run that the
 * index of runs had before the call.
 */
export async function countOpenRuns(
  lists: RunLists,
  owners: Owners,
  { runIds, limit }: { readonly runIds: readonly string[]; readonly limit: number },
  signal: AbortSignal,
): Promise<OpenRuns> {
  const keyOf = (run: string) => bucketOf(RunSchema).key({ tenant: owners.tenant, run });
  return await lists.read(
    owners.tenant,
    (rows) => {
      const count = (kinds: readonly RunStatus[]) =>
        sumOf(selectionsOf(owners), (selection) => rows.count({ ...selection, kinds }, limit));
      const missing = runIds.filter((run) => !rows.has(keyOf(run)));
      return { open: count(openStatuses), queued: count([RunStatus.QUEUED]), missing };
    },
    signal,
  );
}

/** Returns what the runs of a tenant, or of some subjects of it, have cost that ended at `fromMs` or later, in US dollars. */
export async function costOfRuns(
  lists: RunLists,
  owners: Owners,
  fromMs: number,
  signal: AbortSignal,
): Promise<number> {
  return await lists.read(
    owners.tenant,
    (rows) => sumOf(selectionsOf(owners), (selection) => rows.sum(selection, fromMs)),
    signal,
  );
}

function selectionsOf({ tenant, subjects }: Owners) {
  if (subjects === undefined) return [{ tenant }];
  return [...subjects].map((subject) => ({ tenant, fields: { started_by: subject } }));
}

function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + amountOf(item), 0);
}

/** Returns a page of a tenant's runs, newest first. With a filter, searches a limited number of runs. */
export async function listRuns(
  lists: RunLists,
  tenant: string,
  request: ListRunsRequest,
  signal: AbortSignal,
): Promise<Page<Run>> {
  const { agentId, threadId, statuses, pageSize, pageToken } = request;
  if (request.filter !== undefined) {
    const filter = filterOf(request);
    if (filter === undefined) return { items: [], nextPageToken: "" };
    return await searchRuns(lists, tenant, { filter, pageSize, pageToken }, signal);
  }
  const fields = {
    ...(threadId !== "" && { thread_id: threadId }),
    ...(agentId !== "" && { agent_id: agentId }),
  };
  const selection = { tenant, fields, ...(statuses.length > 0 && { kinds: statuses }) };
  return await lists.page(selection, request, signal);
}
