import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "../port.ts";

/** Delay before a broken watch is opened again. */
const retryMs = 1_000;
/** How long a watch may yield nothing before it is current. */
const defaultIdleTimeoutMs = 5_000;

interface LiveViewOptions<Record> {
  /** How long a watch may yield nothing before it is current, in milliseconds. Default: 5,000. */
  readonly idleTimeoutMs?: number;
  /** Whether the view keeps a record. A bucket with a maximum age reports no end of a record. Asked with each change and each read. Default: always. */
  readonly keep?: (record: Record) => boolean;
}

/** All records of a table, as of a moment ago. */
export interface LiveView<Record> {
  (): readonly Record[];
  /** Returns the record with a key. Undefined: there is none. */
  get(key: string): Record | undefined;
}

/**
 * Opens a view of all records of a table, kept up to date by a watch, so that no request waits for the store. Resolves once
 * the view has everything that is stored, and updates it until `signal` aborts. Reopens a watch that breaks, or that yields
 * nothing for `idleTimeoutMs` before it is current.
 */
export async function openLiveView<Record>(
  table: Pick<Table<Record>, "watch">,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
  { idleTimeoutMs = defaultIdleTimeoutMs, keep }: LiveViewOptions<Record> = {},
): Promise<LiveView<Record>> {
  /** The one that was not written for the longest time is first. */
  const records = new Map<string, Record>();
  /** A view that nobody reads also drops what is over; what was written later stays for longer. */
  const dropOldest = () => {
    if (keep === undefined) return;
    for (const [key, record] of records) {
      if (keep(record)) return;
      records.delete(key);
    }
  };
  const { promise: current, resolve: markCurrent } = Promise.withResolvers<void>();
  const watch = async () => {
    // A watch that is opened while its store is still starting may wait forever.
    using idle = new IdleTimeout({ timeoutMs: idleTimeoutMs }, signal);
    let isCurrent = false;
    const found = new Set<string>();
    for await (const change of table.watch("", idle.signal)) {
      if (change.kind === "written") {
        records.delete(change.row.key);
        records.set(change.row.key, change.row.record);
        dropOldest();
        if (!isCurrent) found.add(change.row.key);
      } else if (change.kind === "deleted") records.delete(change.key);
      else if (change.kind === "current") {
        // A record may have been deleted while there was no watch.
        for (const key of records.keys()) if (!found.has(key)) records.delete(key);
        markCurrent();
        isCurrent = true;
      }
      if (isCurrent) idle.pause();
      else idle.restart();
    }
  };
  const keepWatching = async () => {
    while (!signal.aborted) {
      try {
        await watch();
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ err: error }, "cannot watch a table; trying again");
        await sleep(retryMs, signal).catch(() => undefined);
      }
    }
    markCurrent();
  };
  void keepWatching();
  await current;
  const all = () => {
    if (keep !== undefined) {
      for (const [key, record] of records) if (!keep(record)) records.delete(key);
    }
    return [...records.values()];
  };
  const get = (key: string) => {
    const record = records.get(key);
    return record === undefined || keep === undefined || keep(record) ? record : undefined;
  };
  return Object.assign(all, { get });
}
