import type { RunEvent } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { eventsAfter } from "../../test/support/facts.ts";
import { confirmAbsence } from "./confirm-absence.ts";
import { memoryRunLog } from "./memory.ts";
import { emptyTail } from "./port.ts";
import type { RunKey } from "./run-log.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1" };

/** A log that nobody finds until it settles, as a server that was cut off answers, and how often it settled. */
function staleLog({ isConfirmed = true } = {}) {
  const stored = memoryRunLog();
  const known = memoryRunLog();
  let isCurrent = false;
  const counts = { settled: 0 };
  const log = () => (isCurrent ? stored : known);
  const stale = {
    isReplicated: true,
    append: (...given: Parameters<typeof stored.append>) => stored.append(...given),
    read: (...given: Parameters<typeof stored.read>) => log().read(...given),
    readPart: (...given: Parameters<typeof stored.readPart>) => log().readPart(...given),
    last: (...given: Parameters<typeof stored.last>) => log().last(...given),
    readBatches: (...given: Parameters<typeof stored.readBatches>) => log().readBatches(...given),
    follow: (...given: Parameters<typeof stored.follow>) => log().follow(...given),
    settle: async () => {
      counts.settled += 1;
      await Promise.resolve();
      if (!isConfirmed) throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "no majority");
      isCurrent = true;
    },
  };
  return { stored, known, stale, counts };
}

function created(): readonly RunEvent[] {
  return eventsAfter(0, { case: "runCreated", value: { tenant: key.tenant } });
}

async function batchesOf(log: ReturnType<typeof confirmAbsence<RunKey, RunEvent>>) {
  const firsts: number[] = [];
  for await (const { first } of log.readBatches(key, never)) firsts.push(first);
  return firsts;
}

// Requirement: DUR-4
describe("a reader that may say that a log does not exist", () => {
  test("finds a log that the first server did not know", async () => {
    for (const read of [
      async (log: ReturnType<typeof confirmAbsence<RunKey, RunEvent>>) =>
        (await log.read(key, emptyTail, never)).tail.sequence,
      async (log: ReturnType<typeof confirmAbsence<RunKey, RunEvent>>) =>
        (await log.readPart(key, emptyTail, 1, never)).tail.sequence,
      async (log: ReturnType<typeof confirmAbsence<RunKey, RunEvent>>) =>
        (await log.last(key, never)).tail.sequence,
      async (log: ReturnType<typeof confirmAbsence<RunKey, RunEvent>>) =>
        (await batchesOf(log)).length,
    ]) {
      const { stored, stale, counts } = staleLog();
      await stored.append(key, emptyTail, created(), never);
      expect(await read(confirmAbsence(stale))).toBe(1);
      expect(counts.settled).toBe(1);
    }
  });

  test("says that a log does not exist once this is confirmed", async () => {
    const log = confirmAbsence(staleLog().stale);
    expect(await log.read(key, emptyTail, never)).toMatchObject({ events: [], tail: emptyTail });
    expect(await log.last(key, never)).toMatchObject({ events: [], tail: emptyTail });
    expect(await batchesOf(log)).toEqual([]);
  });

  test("says nothing while it cannot be confirmed", async () => {
    const log = confirmAbsence(staleLog({ isConfirmed: false }).stale);
    const unavailable = { kind: "unavailable" };
    await expect(log.read(key, emptyTail, never)).rejects.toMatchObject(unavailable);
    await expect(log.last(key, never)).rejects.toMatchObject(unavailable);
    await expect(batchesOf(log)).rejects.toMatchObject(unavailable);
  });

  test("reads a log that exists without a confirmation, also from its end", async () => {
    const { known, stale, counts } = staleLog();
    const appended = await known.append(key, emptyTail, created(), never);
    const log = confirmAbsence(stale);
    const { tail } = await log.read(key, emptyTail, never);
    expect(appended).toEqual({ kind: "appended", tail });
    expect((await log.read(key, tail, never)).events).toEqual([]);
    expect(await batchesOf(log)).toEqual([1]);
    expect(counts.settled).toBe(0);
  });

  test("follows a log on when a server says wrongly that it was removed", async () => {
    const { stored, known, stale } = staleLog();
    for (const log of [stored, known]) await log.append(key, emptyTail, created(), never);
    const { tail } = await stored.last(key, never);
    const [next] = eventsAfter(1, { case: "runParked", value: {} });
    if (next !== undefined) await stored.append(key, tail, [next], never);
    const sequences: number[] = [];
    for await (const range of confirmAbsence(stale).follow(key, 0, never)) {
      sequences.push(range.tail.sequence);
      if (sequences.length === 1) await known.remove(key, never);
      if (sequences.length === 2) await stored.remove(key, never);
    }
    expect(sequences).toEqual([1, 2]);
  });
});
