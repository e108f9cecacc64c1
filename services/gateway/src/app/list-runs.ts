import { timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { ListRunsRequest, Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import type { AgendaDefinition } from "@reeve/jetstream/local-index/agenda";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/table-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Page } from "@reeve/jetstream/table/page";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { isTerminal } from "@reeve/run/head/run-status";

type RunField = "agent_id" | "thread_id" | "started_by";

/** Filtered lists of the indexed runs, newest first. */
export type RunLists = TableIndex<typeof RunSchema, RunField>;

const statuses = Object.values(RunStatus).filter((status) => typeof status === "number");

const definition: IndexDefinition<Run, RunField> = {
  name: "runs",
  version: 3,
  // Within one millisecond, runs are ordered by id.
  orderOf: ({ createdAt, runId }) => {
    const ms = createdAt === undefined ? 0 : timestampMs(createdAt);
    return `${String(ms).padStart(15, "0")}.${runId}`;
  },
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

/** Whose runs are counted: those of a tenant, or of some subjects of it. */
export interface RunOwners {
  readonly tenant: string;
  readonly subjects: ReadonlySet<string> | undefined;
}

/** Which runs of a tenant are open. */
export interface OpenRuns {
  readonly count: number;
  /** Those of the given runs that are not in the index: they do not exist yet. */
  readonly missing: readonly string[];
}

/**
 * Counts the runs of a tenant, or of some subjects of it, that have not ended, up to `limit`. Has every run that the index of runs
 * had before the call.
 */
export async function countOpenRuns(
  lists: RunLists,
  { tenant, subjects }: RunOwners,
  { runIds, limit }: { readonly runIds: readonly string[]; readonly limit: number },
  signal: AbortSignal,
): Promise<OpenRuns> {
  const selections =
    subjects === undefined
      ? [{ tenant }]
      : [...subjects].map((subject) => ({ tenant, fields: { started_by: subject } }));
  const keyOf = (run: string) => bucketOf(RunSchema).key({ tenant, run });
  return await lists.read((rows) => {
    const counts = selections.map((selection) =>
      rows.count({ ...selection, kinds: openStatuses }, limit),
    );
    const count = counts.reduce((sum, each) => sum + each, 0);
    return { count, missing: runIds.filter((run) => !rows.has(keyOf(run))) };
  }, signal);
}

/** Returns a page of a tenant's runs, newest first. */
export async function listRuns(
  lists: RunLists,
  tenant: string,
  request: ListRunsRequest,
  signal: AbortSignal,
): Promise<Page<Run>> {
  const { agentId, threadId, statuses } = request;
  const fields = {
    ...(threadId !== "" && { thread_id: threadId }),
    ...(agentId !== "" && { agent_id: agentId }),
  };
  const selection = { tenant, fields, ...(statuses.length > 0 && { kinds: statuses }) };
  return await lists.page(selection, request, signal);
}
