import type { ToolCatalog } from "@reeve/contracts/tool";
import { sleep } from "@reeve/platform/async/sleep";
import type { Table } from "@reeve/jetstream/table/port";
import type { Peers } from "@reeve/calls/ports/routing";

const sweepIntervalMs = 10_000;

export interface CatalogSweep {
  readonly pool: string;
  readonly host: string;
  readonly table: Table<ToolCatalog>;
  readonly peers: Peers;
  /** Announces the tools of this host again. */
  readonly announce: () => void;
}

/**
 * Deletes the catalogs of hosts of the pool that are gone, until `signal` aborts. This host must have announced its own, so that
 * the pool is never without tools. A host counts as gone after two sweeps in a row; a host whose catalog was deleted by mistake
 * announces it again. Deletes the catalog of an earlier version, which has no host, at once.
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
    await sleep(sweepIntervalMs, signal);
  }
}
