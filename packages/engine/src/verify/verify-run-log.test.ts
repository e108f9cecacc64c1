import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { batchDigest } from "@reeve/contracts/digest/batch-digest";
import type { StoredRunBatch } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StoredLog as Log } from "../../test/support/stored-log.ts";
import {
  recordedEvents as eventsIn,
  recordedHistories as files,
  storedLog as stored,
} from "../../test/support/stored-log.ts";
import { verifyRunLog } from "./verify-run-log.ts";

const problemsOf = ({ runId, ...log }: Log, batches: readonly StoredRunBatch[] = log.batches) =>
  verifyRunLog(runId, { ...log, batches }).problems;

const anyLengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });
/** For each of the recorded logs, of which there are many. */
const runs = { numRuns: 15 };

describe.each(files)("the log of %s", (file) => {
  const events = eventsIn(file);

  test("is accepted, in batches of any length", async () => {
    await fc.assert(
      fc.asyncProperty(anyLengths, async (lengths) => {
        const log = await stored(events, lengths);
        expect(problemsOf(log)).toEqual([]);
        const { chainedFrom, headSequence, headDigest } = verifyRunLog(log.runId, log);
        expect({ chainedFrom, headSequence }).toEqual({
          chainedFrom: 1,
          headSequence: events.length,
        });
        expect(verifyRunLog(log.runId, log, headDigest).problems).toEqual([]);
      }),
      { numRuns: 5 },
    );
  });

  test("is refused with any byte of a stored batch flipped", async () => {
    await fc.assert(
      fc.asyncProperty(anyLengths, fc.nat(), fc.nat(), fc.nat(7), async (lengths, ...at) => {
        const log = await stored(events, lengths);
        expect(problemsOf(log, withFlippedBit(log.batches, ...at))).not.toEqual([]);
      }),
      runs,
    );
  });

  test("is refused with a byte of each batch flipped, with each batch dropped, and with each pair swapped", async () => {
    const log = await stored(events, [3, 1, 4]);
    for (const [index, { payload, digest }] of log.batches.entries()) {
      for (const at of [0, payload.length >> 1, payload.length - 1, payload.length]) {
        expect(problemsOf(log, withFlippedBit(log.batches, index, at, 0))).not.toEqual([]);
      }
      expect(digest).not.toBe("");
      expect(problemsOf(log, log.batches.toSpliced(index, 1))).not.toEqual([]);
      const [one, two] = log.batches.slice(index, index + 2);
      if (one === undefined || two === undefined) continue;
      expect(problemsOf(log, log.batches.with(index, two).with(index + 1, one))).not.toEqual([]);
    }
  });

  test("is refused with any header of a batch altered", async () => {
    const log = await stored(events, [3, 1, 4]);
    for (const [index, batch] of log.batches.entries()) {
      const altered: readonly Partial<StoredRunBatch>[] = [
        { firstSequence: batch.firstSequence + 1 },
        { lastSequence: batch.lastSequence + 1 },
        { kinds: batch.kinds.slice(1) },
        { digest: "0".repeat(64) },
        // The first batches may be those of a version without digests.
        ...(index > 0 ? [{ digest: "" }, { revision: 0n }] : []),
      ];
      for (const headers of altered) {
        const batches = log.batches.with(index, { ...batch, ...headers });
        expect({ headers, problems: problemsOf(log, batches) }).not.toEqual({
          headers,
          problems: [],
        });
      }
    }
  });

  test("is refused with any two batches swapped, also when their positions are corrected", async () => {
    await fc.assert(
      fc.asyncProperty(anyLengths, fc.nat(), fc.nat(), async (lengths, one, two) => {
        const { batches, ...log } = await stored(events, lengths);
        const [a, b] = [one % batches.length, two % batches.length];
        const [first, second] = [batches[a], batches[b]];
        if (a === b || first === undefined || second === undefined) return;
        const swapped = batches.with(a, second).with(b, first);
        expect(problemsOf({ ...log, batches: swapped })).not.toEqual([]);
        const numbered = swapped.map((batch, index) => ({ ...batch, revision: BigInt(index + 1) }));
        expect(problemsOf({ ...log, batches: numbered })).not.toEqual([]);
      }),
      runs,
    );
  });

  test("is refused with two events of a batch swapped", async () => {
    const { batches, ...log } = await stored(events, [events.length]);
    const [batch] = batches;
    if (batch === undefined) throw new Error("the log is empty");
    for (const index of events.keys()) {
      if (index === 0) continue;
      const content = fromBinary(RunBatchSchema, batch.payload);
      const [one, two] = [content.events[index - 1], content.events[index]];
      if (one === undefined || two === undefined) continue;
      content.events = content.events.with(index - 1, two).with(index, one);
      const altered = { ...batch, payload: toBinary(RunBatchSchema, content) };
      expect(problemsOf({ ...log, batches: [altered] })).not.toEqual([]);
    }
  });

  test("is refused with another batch whose own digest was computed again", async () => {
    const { batches, ...log } = await stored(events, [2]);
    for (const index of batches.slice(0, -1).keys()) {
      const other = rewritten(log.subject, batches, index);
      expect(problemsOf({ ...log, batches: other })).toContainEqual(
        expect.objectContaining({ kind: "broken_chain" }),
      );
    }
  });

  test("is refused by a digest that was noted earlier if it was rewritten up to its end", async () => {
    const log = await stored(events, [events.length]);
    const { headDigest } = verifyRunLog(log.runId, log);
    const other = rewritten(log.subject, log.batches, 0);
    expect(verifyRunLog(log.runId, { ...log, batches: other }, headDigest).problems).toMatchObject([
      { kind: "unexpected_digest" },
    ]);
  });
});

test("a log whose first batches have no digests is accepted, and says from where its chain starts", async () => {
  const events = eventsIn(files[0] ?? "");
  const { batches, ...log } = await stored(events, [2]);
  const [first, second, ...rest] = batches;
  if (first === undefined || second === undefined) throw new Error("the log is too short");
  const unchained = [old(first), old(second)];
  const previousDigest = batchDigest(log.subject, unchained[1]?.payload ?? new Uint8Array());
  const [next, ...others] = chained(log.subject, rest, previousDigest);
  if (next === undefined) throw new Error("the log is too short");
  const { problems, chainedFrom } = verifyRunLog(log.runId, {
    ...log,
    batches: [...unchained, next, ...others],
  });
  expect({ problems, chainedFrom }).toEqual({ problems: [], chainedFrom: 5 });
  expect(
    problemsOf({ ...log, batches: [...batches.slice(0, 2), ...batches.slice(2).map(old)] }),
  ).toContainEqual(expect.objectContaining({ kind: "missing_digest" }));
});

test("a log whose tenant was altered so that no subject can have it is refused", async () => {
  const log = await stored(eventsIn(files[0] ?? ""), [1]);
  const [batch] = log.batches;
  if (batch === undefined) throw new Error("the log is empty");
  const content = fromBinary(RunBatchSchema, batch.payload);
  const [created] = content.events;
  if (created?.event.case === "runCreated") created.event.value.tenant = "`cme";
  const altered = { ...batch, payload: toBinary(RunBatchSchema, content) };
  expect(problemsOf(log, log.batches.with(0, altered))).toContainEqual(
    expect.objectContaining({ kind: "foreign_event" }),
  );
});

test("a log that lost its end is refused because the index has seen it", async () => {
  const events = eventsIn(files[0] ?? "");
  const log = await stored(events, [2]);
  expect(problemsOf(log, log.batches.slice(0, -1))).toContainEqual(
    expect.objectContaining({ kind: "lost_events" }),
  );
});

/** Returns a batch as a version without digests would have stored it. */
function old(batch: StoredRunBatch): StoredRunBatch {
  const content = fromBinary(RunBatchSchema, batch.payload);
  const payload = toBinary(RunBatchSchema, { ...content, previousDigest: new Uint8Array() });
  return { ...batch, digest: "", payload };
}

/** Flips one bit of the payload or of the stored digest of one batch. */
function withFlippedBit(
  batches: readonly StoredRunBatch[],
  which: number,
  position: number,
  bit: number,
): readonly StoredRunBatch[] {
  const index = which % batches.length;
  const batch = batches[index];
  if (batch === undefined) throw new Error("the log is empty");
  const payload = batch.payload.slice();
  const at = position % (payload.length + batch.digest.length);
  if (at < payload.length) {
    payload[at] = (payload[at] ?? 0) ^ (1 << bit);
    return batches.with(index, { ...batch, payload });
  }
  const text = Buffer.from(batch.digest);
  text[at - payload.length] = (text[at - payload.length] ?? 0) ^ (1 << bit);
  return batches.with(index, { ...batch, digest: text.toString("latin1") });
}

/** Moves the time of an event of one batch by a second, and stores the batch with the digest of its new content. */
function rewritten(
  subject: string,
  batches: readonly StoredRunBatch[],
  index: number,
): readonly StoredRunBatch[] {
  const batch = batches[index];
  if (batch === undefined) throw new Error("the log is empty");
  const content = fromBinary(RunBatchSchema, batch.payload);
  const [event] = content.events;
  if (event?.time !== undefined) event.time.seconds += 1n;
  const payload = toBinary(RunBatchSchema, content);
  return batches.with(index, { ...batch, payload, digest: batchDigest(subject, payload) });
}

/** Stores batches again so that they continue the batch with `previous`. */
function chained(
  subject: string,
  batches: readonly StoredRunBatch[],
  previous: string,
): readonly StoredRunBatch[] {
  let before = previous;
  return batches.map((batch) => {
    const content = fromBinary(RunBatchSchema, batch.payload);
    const previousDigest = new Uint8Array(Buffer.from(before, "hex"));
    const payload = toBinary(RunBatchSchema, { ...content, previousDigest });
    before = batchDigest(subject, payload);
    return { ...batch, payload, digest: before };
  });
}
