import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Thread } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/table-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import type { Table } from "@reeve/jetstream/table/port";

/** Lists of the indexed threads, most recently changed first. */
export type ThreadLists = TableIndex<typeof ThreadSchema, never>;

const definition: IndexDefinition<Thread, never> = {
  name: "threads",
  version: 1,
  orderOf: ({ updatedAt, threadId }) => {
    const ms = updatedAt === undefined ? 0 : timestampMs(updatedAt);
    return `${String(ms).padStart(15, "0")}.${threadId}`;
  },
  direction: "descending",
  // Lists of threads have no filters.
  kindOf: () => 0,
  kinds: [0],
  fields: {},
};

/** Opens the lists of an index of threads. They follow it until `signal` aborts. */
export function openThreadLists(
  threads: Table<Thread>,
  home: IndexHome,
  signal: AbortSignal,
): ThreadLists {
  return new TableIndex(threads, { ...home, schema: ThreadSchema, definition }, signal);
}

/** Returns a page of a tenant's threads, most recently changed first. */
export async function listThreads(
  lists: ThreadLists,
  tenant: string,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page<Thread>> {
  return await lists.page({ tenant }, request, signal);
}
