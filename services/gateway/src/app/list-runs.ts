import { timestampMs } from "@bufbuild/protobuf/wkt";
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

type RunField = "agent_id" | "thread_id";

/** Filtered lists of the indexed runs, newest first. */
export type RunLists = TableIndex<typeof RunSchema, RunField>;

const statuses = Object.values(RunStatus).filter((status) => typeof status === "number");

const definition: IndexDefinition<Run, RunField> = {
  name: "runs",
  version: 2,
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
  fields: { thread_id: ({ threadId }) => threadId, agent_id: ({ agentId }) => agentId },
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
