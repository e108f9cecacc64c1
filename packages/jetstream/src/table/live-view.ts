import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "./port.ts";

/** How long to wait before a broken watch is opened again. */
const retryMs = 1_000;
/** How long a watch may say nothing before everything that is stored was seen. */
const defaultSilenceMs = 5_000;

/**
 * The records of a table as they are now, kept fresh by a watch, so that no request waits for the store. Resolves once
 * everything that is stored has been seen; goes on until `signal` aborts.
 */
export async function openLiveView<Record>(
  table: Pick<Table<Record>, "watch">,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
  silenceMs: number = defaultSilenceMs,
): Promise<() => readonly Record[]> {
  const records = new Map<string, Record>();
  const { promise: current, resolve: isCurrent } = Promise.withResolvers<void>();
  const watch = async () => {
    while (!signal.aborted) {
      // A watch that is opened while its store is still starting may wait for ever without a word.
      const silence = new AbortController();
      const stop = () => silence.abort(new DOMException("the watch said nothing", "TimeoutError"));
      const timer = setTimeout(stop, silenceMs);
      let isSilent = true;
      try {
        for await (const change of table.watch("", AbortSignal.any([signal, silence.signal]))) {
          if (change.kind === "written") records.set(change.row.key, change.row.record);
          else if (change.kind === "deleted") records.delete(change.key);
          else {
            isCurrent();
            isSilent = false;
          }
          if (isSilent) timer.refresh();
          else clearTimeout(timer);
        }
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ err: error }, "watch of a table broke; opening it again");
        await wait(retryMs, undefined, { signal }).catch(() => undefined);
      } finally {
        clearTimeout(timer);
      }
    }
    isCurrent();
  };
  void watch();
  await current;
  return () => [...records.values()];
}
