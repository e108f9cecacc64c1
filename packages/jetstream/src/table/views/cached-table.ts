import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table, TableHistory } from "../port.ts";
import { KeptRows } from "./kept-rows.ts";

/** Delay before the changes of the table are followed again. */
const retryMs = 1_000;

interface CachedTableOptions<Record> {
  readonly log: Pick<Logger, "warn">;
  /** Returns the size of an encoded record. */
  readonly bytesOf: (record: Record) => number;
  /** How many rows are kept in memory: those that were read last. Default: 1,000. */
  readonly maxRows?: number;
  /** How large the kept rows may be together, encoded. Default: 16 MiB. */
  readonly maxBytes?: number;
  /** How large a kept row may be, encoded. Default: 64 KiB. */
  readonly maxRowBytes?: number;
}

/** A table whose rows are read from memory, and what has to run meanwhile. */
export interface CachedTable<Record> {
  readonly table: Table<Record> & TableHistory<Record>;
  /** Follows the changes of others until `signal` aborts. Without it, each read asks the store. */
  follow(signal: AbortSignal): Promise<void>;
}

/**
 * Returns a table that reads a row from the store once, for a process that is its only regular writer. What this process writes, and
 * what it deletes, is seen by every later read. A write of another process is seen when its change arrives: while changes are not
 * followed, and for a row that is too large to be kept, each read asks the store. A missing row is not remembered.
 */
export function cachedTable<Record>(
  table: Table<Record> & TableHistory<Record>,
  { log, ...limits }: CachedTableOptions<Record>,
): CachedTable<Record> {
  const rows = new KeptRows<Record>(limits);
  /** How many changes of each key have begun or ended while somebody reads it: such a read may be older than the change. */
  const reads = new Map<string, Set<{ isStale: boolean }>>();
  let isFollowed = false;

  const forget = (key: string) => {
    rows.delete(key);
    for (const read of reads.get(key) ?? []) read.isStale = true;
  };

  const read = async (key: string, signal: AbortSignal) => {
    const current = { isStale: false };
    const ofKey = reads.get(key) ?? new Set();
    reads.set(key, ofKey.add(current));
    try {
      const row = await table.get(key, signal);
      if (row !== undefined && isFollowed && !current.isStale) rows.keep(row);
      return row;
    } finally {
      ofKey.delete(current);
      if (ofKey.size === 0) reads.delete(key);
    }
  };

  /** Reads that overlap with the change are not remembered. */
  const changing = async <Result>(key: string, change: () => Promise<Result>): Promise<Result> => {
    forget(key);
    try {
      return await change();
    } finally {
      forget(key);
    }
  };

  const follow = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        const position = await table.position(signal);
        isFollowed = true;
        for await (const { changes } of table.changesAfter(position, signal)) {
          for (const change of changes)
            forget(change.kind === "written" ? change.row.key : change.key);
        }
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error }, "cannot follow a table; reading from the store");
      } finally {
        isFollowed = false;
        for (const key of [...rows.keys(), ...reads.keys()]) forget(key);
      }
      await sleep(retryMs, signal).catch(() => undefined);
    }
  };

  return {
    follow,
    table: {
      get: async (key, signal) => {
        signal.throwIfAborted();
        return rows.get(key) ?? (await read(key, signal));
      },
      create: (key, ...given) => changing(key, () => table.create(key, ...given)),
      createFirst: (key, ...given) => changing(key, () => table.createFirst(key, ...given)),
      update: (key, ...given) => changing(key, () => table.update(key, ...given)),
      put: (key, ...given) => changing(key, () => table.put(key, ...given)),
      delete: (key, ...given) => changing(key, () => table.delete(key, ...given)),
      deleteVersion: (key, ...given) => changing(key, () => table.deleteVersion(key, ...given)),
      list: (...given) => table.list(...given),
      watch: (...given) => table.watch(...given),
      position: (...given) => table.position(...given),
      changesAfter: (...given) => table.changesAfter(...given),
      versions: (...given) => table.versions(...given),
    },
  };
}
