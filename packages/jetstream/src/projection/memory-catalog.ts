import type { MemoryLog } from "../log/memory.ts";
import type { LogCatalog, LogEnd } from "./port.ts";

interface MemoryEvent {
  readonly sequence: number;
  readonly event: { readonly case: string | undefined };
}

/** Returns the catalog of the logs in a `MemoryLog`. */
export function memoryLogCatalog<Key>(
  log: Pick<MemoryLog<Key, MemoryEvent>, "batches">,
): LogCatalog<Key> {
  return {
    async *ends(signal: AbortSignal): AsyncIterable<LogEnd<Key>> {
      const ends = new Map<string, LogEnd<Key>>();
      for (const { key, events } of log.batches) {
        const sequence = events.at(-1)?.sequence ?? 0;
        const kinds = [...new Set(events.map(({ event }) => event.case ?? "unknown"))];
        ends.set(JSON.stringify(key), { key, sequence, kinds });
      }
      for (const end of ends.values()) {
        signal.throwIfAborted();
        yield end;
      }
    },
  };
}
