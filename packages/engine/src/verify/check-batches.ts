import { fromBinary } from "@bufbuild/protobuf";
import { batchDigest, digestText } from "@reeve/contracts/digest/batch-digest";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { RunBatch, RunEvent, StoredRunBatch } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import { runLogDefinition } from "@reeve/jetstream/log/definitions";

/** Where a log contradicts itself, and what that shows. */
export interface LogProblem {
  readonly kind:
    | "altered_batch"
    | "broken_chain"
    | "missing_digest"
    | "gap"
    | "wrong_header"
    | "unreadable"
    | "foreign_event"
    | "wrong_end"
    | "fold_failed"
    | "lost_events"
    | "wrong_view"
    | "unexpected_digest";
  /** The sequence of the event, or of the first event of the batch. 0: the log as a whole. */
  readonly sequence: number;
  readonly message: string;
}

/** What the batches of a log contain, and what contradicts their digests, sequences, and headers. */
export interface CheckedBatches {
  readonly events: readonly RunEvent[];
  /** The digest of each batch, computed from its payload, with the sequence of its last event. */
  readonly digests: readonly { readonly sequence: number; readonly digest: string }[];
  /** The sequence of the first event that the chain of digests covers; 0: no batch has a digest. */
  readonly chainedFrom: number;
  readonly problems: readonly LogProblem[];
}

/** What was found in the batches so far. */
export interface CheckProgress extends CheckedBatches {
  readonly events: RunEvent[];
  readonly digests: { readonly sequence: number; readonly digest: string }[];
  readonly problems: LogProblem[];
  chainedFrom: number;
  sequence: number;
  revision: bigint;
}

/** Checks the batches of a log in the order in which they are stored. */
export function checkBatches(subject: string, batches: readonly StoredRunBatch[]): CheckedBatches {
  const progress = startCheck();
  for (const batch of batches) checkBatch(subject, batch, progress);
  return progress;
}

export function startCheck(): CheckProgress {
  return { events: [], digests: [], problems: [], chainedFrom: 0, sequence: 0, revision: 0n };
}

/** Checks the next batch, and adds what it contains to `progress`. */
export function checkBatch(subject: string, stored: StoredRunBatch, progress: CheckProgress): void {
  const report = (kind: LogProblem["kind"], message: string) =>
    progress.problems.push({ kind, sequence: stored.firstSequence, message });
  const name = `the batch at revision ${stored.revision}`;
  const digest = batchDigest(subject, stored.payload);
  if (stored.digest !== "" && stored.digest !== digest) {
    report(
      "altered_batch",
      `${name} has the digest ${digest}, but was stored with ${stored.digest}`,
    );
  }
  if (stored.revision <= progress.revision) {
    report("wrong_header", `${name} follows the one at revision ${progress.revision}`);
  }
  progress.revision = stored.revision;
  const batch = decode(stored);
  if (batch === undefined) report("unreadable", `${name} is not a RunBatch`);
  else {
    for (const [kind, message] of chainProblems(batch, stored, progress)) {
      report(kind, `${name} ${message}`);
    }
    for (const message of headerProblems(batch, stored))
      report("wrong_header", `${name} ${message}`);
    if (progress.chainedFrom === 0 && stored.digest !== "")
      progress.chainedFrom = batch.firstSequence;
    takeEvents(batch, progress);
  }
  progress.digests.push({ sequence: progress.sequence, digest });
}

function decode({ payload }: StoredRunBatch): RunBatch | undefined {
  try {
    return fromBinary(RunBatchSchema, payload, storedReadOptions);
  } catch {
    return undefined;
  }
}

function* chainProblems(
  { firstSequence, previousDigest }: RunBatch,
  { digest }: StoredRunBatch,
  { digests, chainedFrom }: CheckProgress,
): Iterable<readonly [LogProblem["kind"], string]> {
  const isChained = chainedFrom > 0;
  if (digest === "" && (isChained || previousDigest.length > 0)) {
    yield ["missing_digest", "has no digest, although the log has digests before or in it"];
  }
  const named = digestText(previousDigest);
  const previous = digests.at(-1)?.digest ?? "";
  if (named === previous || (named === "" && !isChained && firstSequence > 1)) return;
  yield named === ""
    ? ["missing_digest", "does not name the digest of the batch before it"]
    : [
        "broken_chain",
        `follows a batch with the digest ${named}, but the one before it has ${previous || "none"}`,
      ];
}

function* headerProblems(
  { firstSequence, events }: RunBatch,
  stored: StoredRunBatch,
): Iterable<string> {
  const lastSequence = firstSequence + events.length - 1;
  if (stored.firstSequence !== firstSequence || stored.lastSequence !== lastSequence) {
    yield `has the events ${firstSequence} to ${lastSequence}, but its headers say ${stored.firstSequence} to ${stored.lastSequence}`;
  }
  const kinds = runLogDefinition.kinds(events);
  if (kinds.join() !== stored.kinds.join()) {
    yield `has the kinds ${kinds.join(", ")}, but its header says ${stored.kinds.join(", ")}`;
  }
}

/** Adds the events of a batch, and reports where their sequences have a gap. */
function takeEvents({ firstSequence, events }: RunBatch, progress: CheckProgress): void {
  const sequences = [firstSequence, ...events.map(({ sequence }) => sequence)];
  const expected = [
    progress.sequence + 1,
    ...events.map((_, index) => progress.sequence + 1 + index),
  ];
  const wrong = sequences.findIndex((sequence, index) => sequence !== expected[index]);
  if (wrong !== -1) {
    const sequence = sequences[wrong] ?? 0;
    progress.problems.push({
      kind: "gap",
      sequence,
      message: `sequence ${sequence} is stored where ${expected[wrong]} should be`,
    });
  }
  progress.events.push(...events);
  progress.sequence = events.at(-1)?.sequence ?? progress.sequence;
}
