import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table, TableHistory } from "../port.ts";
import { KeptRows } from "./kept-rows.ts";

/** Delay before the changes of the table are followed again. */
const retryMs = 1_000;

/** What is known of the other processes that write a table. */
export interface OtherWriters {
  /** Identifies a time without interruption in which no other process writes. Undefined: one may. */
  solePeriod(): number | undefined;
  /** Resolves when no other process relies on such a time. */
  untilNoOtherIsSole(signal: AbortSignal): Promise<void>;
}

interface CachedTableOptions<Record> {
  readonly log: Pick<Logger, "warn">;
  /** Default: no other process writes regularly. */
  readonly writers?: OtherWriters | undefined;
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

const noOtherWriters: OtherWriters = {
  solePeriod: () => 0,
  untilNoOtherIsSole: () => Promise.resolve(),
};

/**
 * Returns a table that reads a row from the store once while this process is its only writer. What this process writes, and what it
 * deletes, is seen by every later read. While another process may write, while changes are not followed, and for a row that is too large
 * to be kept, each read asks the store. A change of a row waits until no other process relies on being the only writer; a new row does
 * not, because a missing row is not remembered. A process that writes nevertheless is seen when its change arrives.
 */
export function cachedTable<Record>(
  table: Table<Record> & TableHistory<Record>,
  { log, writers = noOtherWriters, ...limits }: CachedTableOptions<Record>,
): CachedTable<Record> {
  const rows = new KeptRows<Record>(limits);
  /** How many changes of each key have begun or ended while somebody reads it: such a read may be older than the change. */
  const reads = new Map<string, Set<{ isStale: boolean }>>();
  let isFollowed = false;
  /** The time of the rows that are kept. */
  let period: number | undefined;

  /** Forgets the rows of an earlier time. Returns whether rows can be kept now. */
  const isSole = () => {
    const now = writers.solePeriod();
    if (now !== period) for (const key of [...rows.keys(), ...reads.keys()]) forget(key);
    period = now;
    return now !== undefined;
  };

  const forget = (key: string) => {
    rows.delete(key);
    for (const read of reads.get(key) ?? []) read.isStale = true;
  };

  const read = async (key: string, signal: AbortSignal) => {
    isSole();
    const current = { isStale: false };
    const ofKey = reads.get(key) ?? new Set();
    reads.set(key, ofKey.add(current));
    try {
      const row = await table.get(key, signal);
      if (row !== undefined && isSole() && isFollowed && !current.isStale) rows.keep(row);
      return row;
    } finally {
      ofKey.delete(current);
      if (ofKey.size === 0) reads.delete(key);
    }
  };

  /** Reads that overlap with the change are not remembered. */
  const creating = async <Result>(key: string, change: () => Promise<Result>): Promise<Result> => {
    forget(key);
    try {
      return await change();
    } finally {
      forget(key);
    }
  };

  const changing = async <Result>(
    key: string,
    signal: AbortSignal,
    change: () => Promise<Result>,
  ): Promise<Result> => {
    await writers.untilNoOtherIsSole(signal);
    const result = await creating(key, change);
    // This process may have stood still before the change, for so long that another one has become the only writer, and holds the row as
    // it was. The change is made, whatever becomes of the wait.
    await writers.untilNoOtherIsSole(signal).catch(() => undefined);
    return result;
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
        return (isSole() ? rows.get(key) : undefined) ?? (await read(key, signal));
      },
      create: (key, ...given) => creating(key, () => table.create(key, ...given)),
      createFirst: (key, ...given) => creating(key, () => table.createFirst(key, ...given)),
      update: (key, record, revision, signal) =>
        changing(key, signal, () => table.update(key, record, revision, signal)),
      put: (key, record, signal) => changing(key, signal, () => table.put(key, record, signal)),
      delete: (key, signal) => changing(key, signal, () => table.delete(key, signal)),
      deleteVersion: (key, revision, signal) =>
        changing(key, signal, () => table.deleteVersion(key, revision, signal)),
      list: (...given) => table.list(...given),
      watch: (...given) => table.watch(...given),
      position: (...given) => table.position(...given),
      changesAfter: (...given) => table.changesAfter(...given),
      versions: (...given) => table.versions(...given),
    },
  };
}
