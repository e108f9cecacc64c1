import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ListRunsRequest, Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import type { Page } from "@reeve/store/page";
import { pageOf } from "@reeve/store/page";
import type { Table } from "@reeve/store/table";

/** A page of the runs of a tenant, newest first, from the index. */
export async function listRuns(
  runs: Table<Run>,
  tenant: string,
  request: ListRunsRequest,
  signal: AbortSignal,
): Promise<Page<Run>> {
  const statuses = new Set(request.statuses);
  const rows = await runs.list(tenant, signal);
  const wanted = rows
    .map(({ record }) => record)
    .filter(({ agentId }) => request.agentId === "" || agentId === request.agentId)
    .filter(({ threadId }) => request.threadId === "" || threadId === request.threadId)
    .filter(({ status }) => statuses.size === 0 || statuses.has(status))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
  return pageOf(
    wanted,
    request,
    keyOf,
    (key, previous) => key < previous,
    (run) => toBinary(RunSchema, run).length,
  );
}

/** Sorts by the time of creation, and by id within one millisecond. */
function keyOf({ createdAt, runId }: Run): string {
  const ms = createdAt === undefined ? 0 : timestampMs(createdAt);
  return `${String(ms).padStart(15, "0")}.${runId}`;
}
