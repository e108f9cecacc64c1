import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Thread } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";
import type { AgendaDefinition } from "@reeve/jetstream/local-index/agenda";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import type { Table } from "@reeve/jetstream/table/port";
import type { SweptIndexHome } from "../list-runs.ts";

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
  // Lists of threads have no filters; the agenda has the unsettled ones.
  kindOf: ({ unsettled }) => (unsettled ? 1 : 0),
  kinds: [0, 1],
  fields: {},
};

/** Time after a change of a thread during which its writer may finish; then an unsettled thread is repaired. */
const graceMs = 15_000;

/** Opens the lists of an index of threads, and the agenda of their repair. They follow it until `signal` aborts. */
export function openThreadLists(
  threads: Table<Thread>,
  { clock, ...home }: SweptIndexHome,
  signal: AbortSignal,
): ThreadLists {
  const agenda: AgendaDefinition = { closedKinds: [0], graceMs, now: () => clock.now() };
  return new TableIndex(threads, { ...home, schema: ThreadSchema, definition, agenda }, signal);
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
