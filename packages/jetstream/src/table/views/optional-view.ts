import { settledWithin } from "@reeve/platform/async/settled-within";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { LiveView } from "./live-view.ts";
import { openLiveView } from "./live-view.ts";
import type { Table } from "../port.ts";

const defaultMaxWaitMs = 2_000;

interface OptionalViewOptions {
  /** How long the first records are waited for, in milliseconds. Default: 2,000. */
  readonly maxWaitMs?: number;
}

/**
 * Opens a view of a table that may be missing while a deployment changes to this version. Resolves when the view is current, or after
 * `maxWaitMs`: it is empty until it is current.
 */
export async function openOptionalView<Record>(
  table: Pick<Table<Record>, "watch">,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
  { maxWaitMs = defaultMaxWaitMs }: OptionalViewOptions = {},
): Promise<() => readonly Record[]> {
  let view: LiveView<Record> | undefined;
  const open = async () => {
    view = await openLiveView(table, log, signal);
  };
  await settledWithin(open(), maxWaitMs, signal);
  return () => view?.() ?? [];
}
