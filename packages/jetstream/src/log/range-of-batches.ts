import { setImmediate as otherWork } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import { digestText } from "@reeve/contracts/digest/batch-digest";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { counter } from "@reeve/platform/telemetry/metrics";
import { tailRevision } from "./archive/marker.ts";
import type { BatchContent, LogDefinition } from "./definitions.ts";
import { historyLost } from "./history-lost.ts";
import type { EventRange, Tail } from "./port.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { contentOf, eventsAfter, tailAfter } from "./stored-batch.ts";

/** How much is decoded at a time: a few milliseconds of work. */
const sliceBytes = 64 * 1024;

const overlaps = counter({
  name: "reeve_log_overlaps_total",
  help: "Reads of logs in which two stored batches contain the same sequence. Anything but 0 means that NATS lost a fact that it had acknowledged.",
});

/** The log to which batches belong. */
export interface BatchSource {
  readonly subject: string;
  /** Returns a batch with its decrypted content. */
  open(batch: StoredBatch): StoredBatch | Promise<StoredBatch>;
}

/**
 * Returns the events of consecutive batches that come after `after`. A position of which nothing but the sequence is known may
 * lie inside a batch. Other work of the process runs while many batches are decoded.
 *
 * Throws a Failure of kind `unavailable` when batches are missing between two: a server that lags does not have them yet. Throws
 * one of kind `internal` when two stored batches have the same sequence: each writer was told that its batch follows the same
 * tail, so no reading of the log is right for both. Throws one of kind `data_loss` when the batches do not continue the history
 * that was read up to `after`.
 */
export async function rangeOfBatches<Key, Event, Schema extends DescMessage>(
  definition: LogDefinition<Key, Event, Schema>,
  { subject, open }: BatchSource,
  after: Tail,
  batches: readonly StoredBatch[],
): Promise<EventRange<Event>> {
  const events: Event[] = [];
  const batchTails: Tail[] = [];
  let tail = after;
  let bytes = 0;
  /** Since other work was done. */
  let sliced = 0;
  for (const batch of batches) {
    if (sliced > sliceBytes) {
      sliced = 0;
      await otherWork();
    }
    if (batch.marker !== undefined) {
      tail = tailOfMarker(subject, tail, batch);
      if (batchTails.at(-1)?.sequence === tail.sequence) batchTails.splice(-1, 1, tail);
      continue;
    }
    const isOld = batch.last <= tail.sequence;
    if (isOld && batch.revision <= Math.abs(tail.revision)) continue;
    if (batch.first > tail.sequence + 1) throw missingBatches(subject, tail, batch);
    if (batch.first <= tail.sequence && tail !== after) throw overlap(subject, tail, batch);
    const opened = open(batch);
    const content = contentOf(definition, opened instanceof Promise ? await opened : opened);
    sliced += batch.data.length;
    bytes += batch.data.length;
    if (isOfOtherHistory(tail, content)) throw historyLost(subject, tail);
    if (isOld) continue;
    events.push(...eventsAfter(content, tail.sequence));
    tail = tailAfter(subject, batch);
    batchTails.push(tail);
  }
  return { events, tail, batchTails, bytes };
}

/** Returns the tail after a marker, which follows what was archived. */
function tailOfMarker(subject: string, tail: Tail, marker: StoredBatch): Tail {
  const { last: sequence, digest } = marker;
  if (sequence > tail.sequence) throw missingBatches(subject, tail, marker);
  if (sequence < tail.sequence || (tail.digest !== "" && tail.digest !== digest)) {
    throw historyLost(subject, tail);
  }
  return { sequence, revision: tailRevision(marker), digest };
}

/** Returns whether a batch continues another history than the one that a reader has read up to `tail`. */
function isOfOtherHistory(
  { sequence, digest }: Tail,
  { firstSequence, previousDigest }: BatchContent<unknown>,
): boolean {
  if (digest === "") return false;
  if (firstSequence <= sequence) return true;
  return previousDigest.length > 0 && digestText(previousDigest) !== digest;
}

function missingBatches(subject: string, { sequence }: Tail, { first }: StoredBatch): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the log ${subject} was read with a gap: sequence ${sequence} is followed by ${first}; try again, and if that does not help, check whether messages of its stream were deleted`,
  );
}

function overlap(subject: string, { revision }: Tail, batch: StoredBatch): Failure {
  overlaps.inc();
  return new Failure(
    "internal",
    ErrorReason.INTERNAL,
    `the log ${subject} has two batches with sequence ${batch.first}: messages ${revision} and ${batch.revision} of its stream; the NATS server accepted both, so the run cannot continue; upgrade nats-server and start the run again`,
  );
}
