import { fromBinary } from "@bufbuild/protobuf";
import type { Run, RunFilter } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { SearchedRows } from "@reeve/jetstream/local-index/search-rows";
import { searchPage } from "@reeve/jetstream/local-index/search-rows";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { matching, placesOf } from "./run-filter.ts";
import type { RunField, RunLists } from "./run-lists.ts";

/** Returns a page of a tenant's runs that match, newest first. Searches a limited number of runs. */
export async function searchRuns(
  lists: RunLists,
  tenant: string,
  { filter, ...page }: PageRequest & { readonly filter: RunFilter },
  signal: AbortSignal,
): Promise<Page<Run>> {
  const searched = searchedRuns(tenant, filter);
  return await lists.read(tenant, (rows) => searchPage(rows, searched, page), signal);
}

/** Returns which rows of the index are searched for the runs that match. */
export function searchedRuns(tenant: string, filter: RunFilter): SearchedRows<Run, RunField> {
  const { agentId, threadId, startedBy, statuses } = filter;
  // Only the first, which has the fewest runs: those that another field excludes count as searched.
  const [fields] = [
    threadId !== "" && { thread_id: threadId },
    startedBy !== "" && { started_by: startedBy },
    agentId !== "" && { agent_id: agentId },
  ].filter((each) => each !== false);
  return {
    selection: {
      tenant,
      ...(fields && { fields }),
      ...(statuses.length > 0 && { kinds: statuses }),
    },
    ...placesOf(filter),
    decode: (bytes: Uint8Array) => fromBinary(RunSchema, bytes, storedReadOptions),
    matches: matching(filter),
  };
}
