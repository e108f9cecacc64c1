import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ListRunsRequest, Run, RunStatus } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { ListView } from "@reeve/jetstream/table/list-view";
import type { Page } from "@reeve/jetstream/table/page";
import type { Table } from "@reeve/jetstream/table/port";

/** The fields by which lists of runs are filtered. */
type RunFacet = Readonly<Pick<Run, "agentId" | "threadId" | "status">>;

/** Filtered lists of the indexed runs, newest first. */
export type RunLists = ListView<typeof RunSchema, RunFacet>;

/** Opens the lists of an index of runs. They follow the index until `signal` aborts. */
export function openRunLists(runs: Table<Run>, signal: AbortSignal): RunLists {
  return new ListView(runs, RunSchema, { facetOf, orderOf, direction: "descending" }, signal);
}

/** Returns a page of a tenant's runs, newest first. */
export async function listRuns(
  lists: RunLists,
  tenant: string,
  request: ListRunsRequest,
  signal: AbortSignal,
): Promise<Page<Run>> {
  const statuses = new Set<RunStatus>(request.statuses);
  const matches = ({ agentId, threadId, status }: RunFacet) =>
    (request.agentId === "" || agentId === request.agentId) &&
    (request.threadId === "" || threadId === request.threadId) &&
    (statuses.size === 0 || statuses.has(status));
  return await lists.page(tenant, request, matches, signal);
}

function facetOf({ agentId, threadId, status }: Run): RunFacet {
  return { agentId, threadId, status };
}

/** Sorts by the time of creation, and by id within one millisecond. */
function orderOf({ createdAt, runId }: Run): string {
  const ms = createdAt === undefined ? 0 : timestampMs(createdAt);
  return `${String(ms).padStart(15, "0")}.${runId}`;
}
