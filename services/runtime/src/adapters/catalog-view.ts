import type { ModelCatalog } from "@reeve/contracts/agent";
import type { ToolCatalog } from "@reeve/contracts/tool";
import type { Logger } from "@reeve/platform/logger";
import type { Table } from "@reeve/store/table";
import type { Catalogs } from "../ports/catalogs.ts";

/** How long to wait before a broken watch is opened again. */
const retryDelayMs = 1_000;

/**
 * The catalogs as they are now, kept fresh by a watch, so that no run waits for the store. Resolves once everything that is
 * stored has been seen; goes on until `signal` aborts.
 */
export async function watchCatalogs(
  tables: { readonly tools: Table<ToolCatalog> },
  models: ModelCatalog,
  {
    logger,
    sleep,
  }: { readonly logger: Logger; sleep(ms: number, signal: AbortSignal): Promise<void> },
  signal: AbortSignal,
): Promise<() => Catalogs> {
  const pools = new Map<string, ToolCatalog>();
  const seenAll = Promise.withResolvers<void>();
  const watch = async () => {
    while (!signal.aborted) {
      try {
        for await (const change of tables.tools.watch("", signal)) {
          if (change.kind === "written") pools.set(change.row.key, change.row.record);
          else if (change.kind === "deleted") pools.delete(change.key);
          else seenAll.resolve();
        }
      } catch (error) {
        if (signal.aborted) break;
        logger.warn({ err: error }, "watch of the tool catalogs broke; opening it again");
        await sleep(retryDelayMs, signal).catch(() => undefined);
      }
    }
    seenAll.resolve();
  };
  void watch();
  await seenAll.promise;
  return () => ({ tools: [...pools.values()], models });
}
