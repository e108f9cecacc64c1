import { create, equals } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import type { RowsOfLogs } from "@reeve/jetstream/projection/drop-orphans";
import { dropOrphan } from "@reeve/jetstream/projection/drop-orphans";
import { readThroughUnlessDeleted } from "@reeve/jetstream/log/read-through";
import type { RunFeedBatch, RunFeed } from "@reeve/jetstream/feed/run-feed";
import { foldRun } from "@reeve/run/commands/fold-run";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunKey, RunLog, RunTailReader } from "@reeve/jetstream/log/run-log";
import { every } from "@reeve/platform/async/every";
import { gather } from "@reeve/platform/async/gather";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { HeldBatches } from "./held-batches.ts";
import { mergeBatches } from "./merge-batches.ts";
import { RecentRows } from "./recent-rows.ts";
import { countEnd } from "./run-metrics.ts";
import { rowAfter, rowKinds, rowOf } from "./run-row.ts";

const { key: runKey, tokensOf } = bucketOf(RunSchema);
const maxAttempts = 20;
/** Rows of runs in progress that are held in memory. */
const maxRows = 2_000;
/** For how long to wait for more batches before rows are written, so that a short run is written once or twice. */
const gatherMs = 20;
const maxGathered = 256;
/** For how long what changes while a run is in progress waits for more, how many runs wait so, and how often that is checked. */
const held = { maxMs: 500, maxRuns: 2_000 };
const checkMs = 50;
/** How long the batches that wait may take when the gateway ends: without an acknowledgement, others get them after the ack-wait. */
const endMs = 2_000;

export interface IndexPorts {
  readonly runs: Table<Run>;
  /** Confirms that a log which it does not find does not exist. */
  readonly log: Pick<RunLog, "read">;
  readonly logEnds: RunTailReader;
}

/**
 * Maintains the index of runs: a projection of their logs that can be discarded and rebuilt. Two gateways may read
 * at the same time, so the batches of a run may arrive in any order and more than once. A row never becomes older, and is rebuilt from
 * the log whenever a batch does not follow it. It shows at once that a run begins, waits, and has ended; anything else a moment later.
 */
export async function indexRuns(
  feed: RunFeed,
  ports: IndexPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const recent = new RecentRows<Run>(maxRows);
  const limits = {
    maxItems: maxGathered,
    wait: (until: AbortSignal) => sleep(gatherMs, until),
  };
  const batches = feed.consume("run-index", rowKinds, signal);
  const waiting = new HeldBatches(held);
  const index = async (ofRuns: readonly (readonly RunFeedBatch[])[], until: AbortSignal) => {
    const ofRun = async (all: readonly RunFeedBatch[]) => {
      for (const batch of mergeBatches(all)) await indexed({ ports, recent, log }, batch, until);
    };
    await Promise.all(ofRuns.map(ofRun));
  };
  using _ = every(checkMs, () => void index(waiting.takeDue(performance.now()), signal));
  try {
    for await (const gathered of gather(batches, limits, signal)) {
      const ofRuns = Map.groupBy(gathered, ({ key }) => runKey({ ...key }));
      const now = [...ofRuns].map(([run, added]) => waiting.add(run, added, performance.now()));
      await index(now, signal);
      if (signal.aborted) return;
    }
  } finally {
    await index(waiting.takeAll(), AbortSignal.timeout(endMs));
  }
}

interface Indexing {
  readonly ports: IndexPorts;
  readonly recent: RecentRows<Run>;
  readonly log: Logger;
}

/** Indexes a batch, and acknowledges it if that succeeds. Never rejects. */
async function indexed(
  { ports, recent, log }: Indexing,
  batch: RunFeedBatch,
  signal: AbortSignal,
): Promise<void> {
  try {
    await indexBatch(ports, recent, batch, signal);
    batch.acknowledge();
  } catch (error) {
    if (signal.aborted) return;
    // Without an acknowledgement the batch is delivered again.
    log.warn({ err: error, runId: batch.key.run }, "run was not indexed; trying again");
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
    // The first batch of a run creates its row, unless it is a redelivery.
    const isFirst = attempt === 0 && batch.events[0]?.sequence === 1;
    const row = isFirst ? undefined : (recent.get(rowKey) ?? (await runs.get(rowKey, signal)));
    const before = row?.record.deleting === true ? undefined : row?.record;
    if (row?.record.deleting === true && !startsAnew(row.record, batch)) return;
    const after = follow(before, batch) ?? (await readRow(ports.log, batch, before, signal));
    // The run was deleted, and its deletion removes the row.
    if (after === undefined) return;
    if (before && equals(RunSchema, before, after)) return;
    // A deletion marks the row first. So where there was no row, nobody has deleted the run.
    const isNew = isFirst && row === undefined;
    const created = isNew ? await runs.createFirst(rowKey, after, signal) : undefined;
    const written =
      created ??
      (row === undefined
        ? await runs.create(rowKey, after, signal)
        : await runs.update(rowKey, after, row.revision, signal));
    if (written !== undefined && created === undefined && before === undefined) {
      if (await dropOrphan(runsOfLogs(ports), written, signal)) return;
    }
    if (written !== undefined) countEnd(before, after);
    if (written !== undefined && rests(after)) recent.forget(rowKey);
    else if (written !== undefined) recent.keep(written);
    if (written !== undefined) return;
    recent.forget(rowKey);
  }
  throw new Error(
    `the row of run ${run} was not written: other writers were first in all ${maxAttempts} attempts`,
  );
}

/**
 * Returns whether a batch is the first one of a new run with the id of one whose deletion has begun. Its row belongs to the
 * deletion, also when its own first batch is delivered again.
 */
function startsAnew({ createdAt }: Run, { events: [first] }: RunFeedBatch): boolean {
  if (first?.sequence !== 1) return false;
  if (createdAt === undefined || first.time === undefined) return true;
  return !equals(TimestampSchema, createdAt, first.time);
}

/** Returns the index of runs as rows that follow from logs. */
export function runsOfLogs({ runs, logEnds }: IndexPorts): RowsOfLogs<RunKey, Run> {
  return { rows: runs, logs: logEnds, logOf: runOfRow };
}

function runOfRow({ key }: Row<Run>): RunKey | undefined {
  const { tenant, run } = tokensOf(key) ?? {};
  return tenant === undefined || run === undefined ? undefined : { tenant, run };
}

/** Returns whether no write of the row is expected soon, so that it need not be held. */
function rests({ status }: Run): boolean {
  return status === RunStatus.WAITING || isTerminal(status);
}

/**
 * Returns the row after a batch that follows its last sequence. Batches between them that the feed does not deliver change
 * nothing; a late batch rebuilds the row when it arrives. Undefined: the row has to be rebuilt from the log.
 */
function follow(before: Run | undefined, { events }: RunFeedBatch): Run | undefined {
  const first = events[0]?.sequence ?? 0;
  const isNext = before === undefined ? first === 1 : first > before.lastSequence;
  return isNext ? events.reduce(rowAfter, before ?? create(RunSchema)) : undefined;
}

/** Returns the row according to the log, which has the batch and everything in the row before. Undefined: the log was deleted. */
async function readRow(
  log: Pick<RunLog, "read">,
  { key, events: batch }: RunFeedBatch,
  before: Run | undefined,
  signal: AbortSignal,
): Promise<Run | undefined> {
  const known = Math.max(batch.at(-1)?.sequence ?? 0, before?.lastSequence ?? 0);
  const range = await readThroughUnlessDeleted(log, key, known, signal);
  return range && rowOf(await foldRun(range.events, signal));
}
