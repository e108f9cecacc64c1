import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@reeve/platform/logger";
import type { Table } from "./table.ts";

/** How long to wait before a broken watch is opened again. */
const retryMs = 1_000;

/**
 * The records of a table as they are now, kept fresh by a watch, so that no request waits for the store. Resolves once
 * everything that is stored has been seen; goes on until `signal` aborts.
 */
export async function openLiveView<Record>(
  table: Table<Record>,
  log: Logger,
  signal: AbortSignal,
): Promise<() => readonly Record[]> {
  const records = new Map<string, Record>();
  const { promise: current, resolve: isCurrent } = Promise.withResolvers<void>();
  const watch = async () => {
    while (!signal.aborted) {
      try {
        for await (const change of table.watch("", signal)) {
          if (change.kind === "written") records.set(change.row.key, change.row.record);
          else if (change.kind === "deleted") records.delete(change.key);
          else isCurrent();
        }
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ err: error }, "watch of a table broke; opening it again");
        await wait(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
    isCurrent();
  };
  void watch();
  await current;
  return () => [...records.values()];
}
