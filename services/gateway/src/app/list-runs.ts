import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ListRunsRequest, Run } from "@reeve/contracts/run";
import { RunSchema, RunStatusSchema } from "@reeve/contracts/run";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/table-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Page } from "@reeve/jetstream/table/page";
import type { Table } from "@reeve/jetstream/table/port";

type RunField = "agent_id" | "thread_id";

/** Filtered lists of the indexed runs, newest first. */
export type RunLists = TableIndex<typeof RunSchema, RunField>;

const definition: IndexDefinition<Run, RunField> = {
  name: "runs",
  version: 1,
  // Within one millisecond, runs are ordered by id.
  orderOf: ({ createdAt, runId }) => {
    const ms = createdAt === undefined ? 0 : timestampMs(createdAt);
    return `${String(ms).padStart(15, "0")}.${runId}`;
  },
  direction: "descending",
  kindOf: ({ status }) => status,
  kinds: RunStatusSchema.values.map(({ number }) => number),
  // A thread has fewer runs than an agent, so lists that are filtered by both are read by the thread.
  fields: { thread_id: ({ threadId }) => threadId, agent_id: ({ agentId }) => agentId },
};

/** Opens the lists of an index of runs. They follow it until `signal` aborts. */
export function openRunLists(runs: Table<Run>, home: IndexHome, signal: AbortSignal): RunLists {
  return new TableIndex(runs, { ...home, schema: RunSchema, definition }, signal);
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
