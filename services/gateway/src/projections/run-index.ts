import { create, equals } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunFeedBatch, RunFeed } from "@reeve/jetstream/feed/run-feed";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import { RecentRows } from "./recent-rows.ts";
import { countEnd } from "./run-metrics.ts";
import { rowAfter, rowKinds, rowOf } from "./run-row.ts";

const { key: runKey } = bucketOf(RunSchema);
const maxAttempts = 20;
/** How many rows of runs that are under way are held. */
const maxRows = 2_000;

export interface IndexPorts {
  readonly runs: Table<Run>;
  readonly log: Pick<RunLog, "read">;
}

/**
 * Keeps the index of runs: a projection of their logs, which can be thrown away and made again. Several gateways share the
 * work, so that batches of one run may arrive in any order and more than once: a row never becomes older than it was, and
 * is made anew from the log whenever a batch does not simply follow it.
 */
export async function indexRuns(
  feed: RunFeed,
  ports: IndexPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const recent = new RecentRows<Run>(maxRows);
  for await (const batch of feed.consume("run-index", rowKinds, signal)) {
    try {
      await indexBatch(ports, recent, batch, signal);
      batch.acknowledge();
    } catch (error) {
      if (signal.aborted) return;
      // Not acknowledged: it comes again.
      log.warn({ err: error, runId: batch.key.run }, "run could not be indexed; trying again");
    }
  }
}

async function indexBatch(
  ports: IndexPorts,
  recent: RecentRows<Run>,
  batch: RunFeedBatch,
  signal: AbortSignal,
): Promise<void> {
  const { runs } = ports;
  const { tenant, run } = batch.key;
  const rowKey = runKey({ tenant, run });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    // The first batch of a run makes its row, unless it is delivered again.
    const isFirst = attempt === 0 && batch.events[0]?.sequence === 1;
    const row = isFirst ? undefined : (recent.get(rowKey) ?? (await runs.get(rowKey, signal)));
    const after =
      follow(row?.record, batch) ?? (await readRow(ports.log, batch.key, row?.record, signal));
    if (after === undefined || (row && equals(RunSchema, row.record, after))) return;
    const written =
      row === undefined
        ? await runs.create(rowKey, after, signal)
        : await runs.update(rowKey, after, row.revision, signal);
    if (written !== undefined) countEnd(row?.record, after);
    if (written !== undefined && rests(after)) recent.forget(rowKey);
    else if (written !== undefined) recent.keep(written);
    if (written !== undefined) return;
    recent.forget(rowKey);
  }
  throw new Error(`row of run ${run} changes all the time`);
}

/** Whether nothing is written of the run for a while, or ever: such a row is not worth its place. */
function rests({ status }: Run): boolean {
  return status === RunStatus.WAITING || isTerminal(status);
}

/**
 * The row after a batch that comes after all that the row knows. What lies between them and was not wanted changes nothing;
 * what was wanted and is late makes the row anew when it comes. Undefined: only the log can tell.
 */
function follow(before: Run | undefined, { events }: RunFeedBatch): Run | undefined {
  const first = events[0]?.sequence ?? 0;
  const isNext = before === undefined ? first === 1 : first > before.lastSequence;
  return isNext ? events.reduce(rowAfter, before ?? create(RunSchema)) : undefined;
}

/** The row as the log has it; undefined when there is no such run any more. */
async function readRow(
  log: Pick<RunLog, "read">,
  key: RunFeedBatch["key"],
  before: Run | undefined,
  signal: AbortSignal,
): Promise<Run | undefined> {
  const { events, tail } = await log.read(key, emptyTail, signal);
  if (events.length === 0) return undefined;
  if (before !== undefined && tail.sequence < before.lastSequence) {
    throw new Error(`the log of run ${key.run} is read from a replica that lags`);
  }
  return rowOf(foldHead(emptyHead, events));
}
