import { bucketOf } from "@reeve/contracts/channel";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { ListRunsRequest, Run, RunFilter } from "@reeve/contracts/run";
import { RunFilterSchema, RunSchema } from "@reeve/contracts/run";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { costOfRun, filterOf, runIdOfPlace } from "./run-filter.ts";
import type { RunLists } from "./run-lists.ts";
import { isKnownWithoutDecoding, visitOutlines } from "./outlined-runs.ts";

const maxSize = 100;

interface RunsByCost {
  readonly runs: readonly Run[];
  /** Whether there are older runs that were not compared. */
  readonly isPartial: boolean;
}

export interface CostliestPorts {
  readonly runLists: RunLists;
  readonly runs: Pick<Table<Run>, "get">;
}

/**
 * Returns the runs of a tenant that match and cost the most, the most expensive first, of the newest 10,000. Throws a Failure of kind
 * `invalid` for a request that this order does not fit.
 */
export async function costliestRuns(
  { runLists: lists, runs }: CostliestPorts,
  tenant: string,
  request: ListRunsRequest,
  signal: AbortSignal,
): Promise<RunsByCost> {
  if (request.pageToken !== "") throw invalid("page_token", "the list by cost has one page");
  const given = filterOf({ ...request, filter: request.filter ?? create(RunFilterSchema) });
  if (given === undefined) return { runs: [], isPartial: false };
  if (!isKnownWithoutDecoding(given)) {
    const filters = filtersWithRecords(given);
    const problem = `the list by cost cannot be filtered by ${filters}; list the newest runs first, or leave out this part of the filter`;
    throw invalid("filter", problem);
  }
  const size = Math.min(request.pageSize || maxSize, maxSize);
  let top: { readonly order: string; readonly amount: number }[] = [];
  const keep = () => (top = top.toSorted((a, b) => b.amount - a.amount).slice(0, size));
  const isPartial = await visitOutlines(
    { lists, tenant, filter: given },
    ({ order, amount }) => {
      if (amount > 0) top.push({ order, amount });
      if (top.length > maxSize * 10) keep();
    },
    signal,
  );
  const { key } = bucketOf(RunSchema);
  const rows = await Promise.all(
    keep().map(({ order }) => runs.get(key({ tenant, run: runIdOfPlace(order) }), signal)),
  );
  return {
    runs: rows
      // A run may have been deleted since.
      .flatMap((row) => (row === undefined || row.record.deleting ? [] : [row.record]))
      .toSorted((a, b) => costOfRun(b) - costOfRun(a)),
    isPartial,
  };
}

/** Names the parts of a filter that need the records of runs. */
function filtersWithRecords({ text, labels, hasFailedSubtasks }: RunFilter): string {
  const named = [
    text !== "" && "text",
    Object.keys(labels).length > 0 && "labels",
    hasFailedSubtasks && "failed subtasks",
  ];
  return named.filter((each) => each !== false).join(" and ");
}

function invalid(field: string, description: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, `${field}: ${description}`, {
    violations: [{ field, description, reason: "NOT_BY_COST" }],
  });
}
