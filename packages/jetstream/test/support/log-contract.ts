import { ErrorReason } from "@reeve/contracts/error";
import { describe, expect, test } from "vitest";
import { emptyTail } from "../../src/log/port.ts";
import type { Log, TailReader } from "../../src/log/port.ts";
import type { LogKind } from "./facts.ts";
import { appendEvents, followUntil, range } from "./facts.ts";
import { followContract } from "./followers/follow-contract.ts";
import { freezingEvents } from "./followers/freeze-events.ts";
import { listenerContract } from "./followers/listener-contract.ts";

/** The lengths of the batches of a long history: many small ones, then one or several that are as large as all of them. */
function lengthsOf(batches: number): readonly number[] {
  return range(1, batches).map((index) => {
    if (index % (batches / 2) === 0) return 1_000_000;
    if (index % (batches / 5) === 0) return 22_000;
    const isLarge = index > batches * 0.75 && index <= batches * 0.76;
    return isLarge ? 200_000 : 1 + (index % 30);
  });
}

/**
 * The contract of every adapter of a log. `open` returns several connections to the same log. `batches` is the length of a long
 * history.
 */
export function logContract<Key, Event extends { readonly sequence: number }>(
  where: string,
  { fresh, inOtherTenant, batch, wordsOf }: LogKind<Key, Event>,
  open: () => readonly [Log<Key, Event> & TailReader<Key, Event>, Log<Key, Event>],
  batches = 2_000,
): void {
  const writers = () => {
    const [log, other] = open();
    return [freezingEvents(log), freezingEvents(other)] as const;
  };
  const mixedLengths = lengthsOf(batches);
  listenerContract(where, { fresh, inOtherTenant, batch, wordsOf }, writers);
  followContract(where, { fresh, batch, wordsOf }, writers, mixedLengths);
  describe(`a log ${where}`, () => {
    const signal = new AbortController().signal;

    test("has no events of a run that does not exist", async () => {
      const [log] = writers();
      expect(await log.read(fresh(), emptyTail, signal)).toMatchObject({
        events: [],
        tail: emptyTail,
        batchTails: [],
      });
    });

    test("reads all events, or the events after a tail", async () => {
      const [log, other] = writers();
      const key = fresh();
      const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a", "b"), signal);
      const second = await appendEvents(log, key, first, batch(first, "c"), signal);
      const whole = await other.read(key, emptyTail, signal);
      expect(wordsOf(whole.events)).toEqual(["1 a", "2 b", "3 c"]);
      expect(whole.tail).toEqual(second);
      expect(wordsOf((await other.read(key, first, signal)).events)).toEqual(["3 c"]);
      expect(await other.read(key, second, signal)).toMatchObject({
        events: [],
        tail: second,
        batchTails: [],
      });
    });

    test("returns its last batch, and reads on from there", async () => {
      const [log] = writers();
      const key = fresh();
      expect(await log.last(key, signal)).toMatchObject({ events: [], tail: emptyTail });
      const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a", "b"), signal);
      const second = await appendEvents(log, key, first, batch(first, "c", "d"), signal);
      const { events, tail } = await log.last(key, signal);
      expect(wordsOf(events)).toEqual(["3 c", "4 d"]);
      expect(tail).toEqual(second);
      await appendEvents(log, key, tail, batch(tail, "e"), signal);
      expect(wordsOf((await log.read(key, tail, signal)).events)).toEqual(["5 e"]);
    });

    test("chains its batches: each has a digest that covers its log, its content, and all batches before it", async () => {
      const [log, other] = writers();
      const chainOf = async (key: Key, ...batches: readonly (readonly string[])[]) => {
        let tail = emptyTail;
        for (const words of batches) {
          tail = await appendEvents(log, key, tail, batch(tail, ...words), signal);
        }
        const { batchTails } = await other.read(key, emptyTail, signal);
        expect(batchTails.at(-1)).toEqual(tail);
        expect(batchTails).toHaveLength(batches.length);
        return batchTails.map(({ digest }) => digest);
      };
      const key = fresh();
      const digests = [
        await chainOf(key, ["a", "b"], ["c"], ["d"]),
        await chainOf(inOtherTenant(key), ["a", "b"], ["c"], ["d"]),
        await chainOf(fresh(), ["a", "x"], ["c"], ["d"]),
        await chainOf(fresh(), ["a"], ["b", "c"], ["d"]),
      ].flat();
      expect(digests.every((digest) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
      expect(new Set(digests).size).toBe(12);
    });

    test("names the tail after each batch that it reads or follows", async () => {
      const [log, other] = writers();
      const key = fresh();
      const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a", "b"), signal);
      const second = await appendEvents(log, key, first, batch(first, "c", "d"), signal);
      expect((await other.read(key, emptyTail, signal)).batchTails).toEqual([first, second]);
      expect((await other.read(key, first, signal)).batchTails).toEqual([second]);
      expect((await log.last(key, signal)).batchTails).toEqual([second]);
      for (const after of [1, 2, 3]) {
        for await (const { batchTails } of other.follow(key, after, signal)) {
          expect(batchTails).toEqual(after === 1 ? [first, second] : [second]);
          break;
        }
      }
    });

    test("reads a log of any length, from the start or after any of its batches", async () => {
      const [log, other] = writers();
      const [key, between] = [fresh(), fresh()];
      const words = Array.from({ length: 14 }, (_, index) => `word${index}`);
      const tails = [emptyTail];
      let aside = emptyTail;
      for (const [length, word] of words.entries()) {
        const tail = tails[length] ?? emptyTail;
        tails.push(await appendEvents(log, key, tail, batch(tail, word, "more"), signal));
        aside = await appendEvents(log, between, aside, batch(aside, "other"), signal);
        for (const [from, start] of tails.entries()) {
          const { events, tail: reached } = await other.read(key, start, signal);
          expect(events.map(({ sequence }) => sequence)).toEqual(
            Array.from({ length: 2 * (length + 1 - from) }, (_, index) => 2 * from + 1 + index),
          );
          expect(reached).toEqual(tails.at(-1));
        }
      }
    });

    test("keeps runs and tenants apart", async () => {
      const [log] = writers();
      const key = fresh();
      await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      const other = await log.read(inOtherTenant(key), emptyTail, signal);
      expect(other.events).toEqual([]);
    });

    test("rejects a batch that is larger than the store accepts, and stores nothing of it", async () => {
      const [log] = writers();
      const key = fresh();
      const half = "x".repeat(600_000);
      await expect(
        log.append(key, emptyTail, batch(emptyTail, half, half), signal),
      ).rejects.toMatchObject({ kind: "exhausted", reason: ErrorReason.TOO_LARGE });
      const tail = await appendEvents(log, key, emptyTail, batch(emptyTail, half), signal);
      expect(tail.sequence).toBe(1);
    });

    // Requirement: DUR-4
    test("rejects an append after a tail that is no longer the end", async () => {
      const [log, other] = writers();
      const key = fresh();
      const tail = await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      const late = await other.append(key, emptyTail, batch(emptyTail, "z"), signal);
      expect(late).toEqual({ kind: "conflict" });
      expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(["1 a"]);
      expect((await other.append(key, tail, batch(tail, "b"), signal)).kind).toBe("appended");
    });

    test("lets exactly one of racing writers win each round", async () => {
      const [log, other] = writers();
      const key = fresh();
      let tail = emptyTail;
      for (let round = 0; round < 40; round++) {
        const batchOf = (writer: string) => batch(tail, `${writer}${round}`, `${writer}${round}`);
        const outcomes = await Promise.all([
          log.append(key, tail, batchOf("a"), signal),
          other.append(key, tail, batchOf("b"), signal),
          log.append(key, tail, batchOf("c"), signal),
          other.append(key, tail, batchOf("d"), signal),
        ]);
        const won = outcomes.filter((outcome) => outcome.kind === "appended");
        expect(won).toHaveLength(1);
        tail = won[0]?.tail ?? tail;
      }
      const { events } = await log.read(key, emptyTail, signal);
      expect(events.map(({ sequence }) => sequence)).toEqual(range(1, 80));
      // A batch is atomic: its two events are adjacent.
      const words = wordsOf(events).map((line) => line.split(" ")[1]);
      for (let index = 0; index < words.length; index += 2) {
        expect(words[index]).toBe(words[index + 1]);
      }
    });

    test.each([1, 8, 9, 40])("reads a remainder of %i batches", async (count) => {
      const [log, other] = writers();
      const key = fresh();
      const start = await appendEvents(log, key, emptyTail, batch(emptyTail, "start"), signal);
      let tail = start;
      for (let index = 0; index < count; index++) {
        tail = await appendEvents(log, key, tail, batch(tail, `w${index}`), signal);
      }
      const { events, tail: end } = await other.read(key, start, signal);
      expect(events.map(({ sequence }) => sequence)).toEqual(range(2, count + 1));
      expect(end).toEqual(tail);
    });

    test("reads a long history of batches of all sizes, whole and from any point", async () => {
      const [log, other] = writers();
      const key = fresh();
      const tails = [emptyTail];
      for (const length of mixedLengths) {
        const tail = tails.at(-1) ?? emptyTail;
        tails.push(await appendEvents(log, key, tail, batch(tail, "x".repeat(length)), signal));
      }
      const end = mixedLengths.length;
      for (const from of [0, 1, end / 2, end * 0.85, end - 1]) {
        const { events, tail } = await other.read(key, tails[from] ?? emptyTail, signal);
        expect(wordsOf(events).map((line) => line.split(" ")[1]?.length)).toEqual(
          mixedLengths.slice(from),
        );
        expect(tail).toEqual(tails.at(-1));
        const followed = await followUntil(other.follow(key, from, signal), end);
        expect(wordsOf(followed)).toEqual(wordsOf(events));
      }
    });
  });
}
