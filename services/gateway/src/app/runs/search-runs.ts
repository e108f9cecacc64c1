import { fromBinary } from "@bufbuild/protobuf";
import type { Run, RunFilter } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { searchPage } from "@reeve/jetstream/local-index/search-rows";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { matching, placeOf } from "./run-filter.ts";
import type { RunLists } from "./run-lists.ts";

/** Returns a page of a tenant's runs that match, newest first. Searches a limited number of runs. */
export async function searchRuns(
  lists: RunLists,
  tenant: string,
  { filter, ...page }: PageRequest & { readonly filter: RunFilter },
  signal: AbortSignal,
): Promise<Page<Run>> {
  const { agentId, threadId, startedBy, statuses, createdAfter, createdBefore } = filter;
  // Only the first, which has the fewest runs: those that another field excludes count as searched.
  const [fields] = [
    threadId !== "" && { thread_id: threadId },
    startedBy !== "" && { started_by: startedBy },
    agentId !== "" && { agent_id: agentId },
  ].filter((each) => each !== false);
  const searched = {
    selection: {
      tenant,
      ...(fields && { fields }),
      ...(statuses.length > 0 && { kinds: statuses }),
    },
    ...(createdAfter && { from: placeOf(createdAfter) }),
    ...(createdBefore && { before: placeOf(createdBefore) }),
    decode: (bytes: Uint8Array) => fromBinary(RunSchema, bytes, storedReadOptions),
    matches: matching(filter),
  };
  return await lists.read(tenant, (rows) => searchPage(rows, searched, page), signal);
}
