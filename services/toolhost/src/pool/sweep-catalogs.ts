import { setTimeout as wait } from "node:timers/promises";
import type { ToolCatalog } from "@reeve/contracts/tool";
import type { Table } from "@reeve/jetstream/table/port";
import type { Peers } from "@reeve/calls/ports/routing";

const lookMs = 10_000;

export interface CatalogSweep {
  readonly pool: string;
  readonly host: string;
  readonly table: Table<ToolCatalog>;
  readonly peers: Peers;
  /** Announces the tools of this host again. */
  readonly announce: () => void;
}

/**
 * Takes away what hosts of the pool have announced that are gone, from now on and until `signal` aborts: this host has said
 * what it offers, so that the pool is not without tools. A host that was gone in two looks is; one that was taken for gone
 * announces again. What a version announced that knew no hosts goes at once.
 */
export async function sweepCatalogs(
  { pool, host, table, peers, announce }: CatalogSweep,
  signal: AbortSignal,
): Promise<void> {
  await table.delete(pool, signal);
  let gone: ReadonlySet<string> = new Set();
  for (;;) {
    const missing = new Set<string>();
    const rows = await table.list(pool, signal);
    if (!rows.some(({ record }) => record.host === host)) announce();
    for (const { key, record, revision } of rows) {
      if (record.host === host || !(await peers.isGone(record.host, signal))) continue;
      if (gone.has(record.host)) await table.deleteVersion(key, revision, signal);
      else missing.add(record.host);
    }
    gone = missing;
    await wait(lookMs, undefined, { signal });
  }
}
