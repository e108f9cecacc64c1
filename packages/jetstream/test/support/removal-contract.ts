import { describe, expect, test } from "vitest";
import { emptyTail } from "../../src/log/port.ts";
import type { Log, LogRemover, TailReader } from "../../src/log/port.ts";
import type { LogKind } from "./facts.ts";
import { appendEvents } from "./facts.ts";

type RemovableLog<Key, Event> = Log<Key, Event> & TailReader<Key, Event> & LogRemover<Key>;

/** The contract of every adapter that removes logs. `writers` returns two connections to the same logs. */
export function removalContract<Key, Event extends { readonly sequence: number }>(
  where: string,
  { fresh, batch, wordsOf }: LogKind<Key, Event>,
  writers: () => readonly [RemovableLog<Key, Event>, Log<Key, Event>],
): void {
  describe(`a removed log ${where}`, () => {
    const signal = new AbortController().signal;

    test("is like one that never was, while other logs stay", async () => {
      const [log, other] = writers();
      const [key, kept] = [fresh(), fresh()];
      const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      await appendEvents(log, key, first, batch(first, "b"), signal);
      await appendEvents(log, kept, emptyTail, batch(emptyTail, "k"), signal);
      await log.remove(key, signal);
      await log.remove(key, signal);
      expect((await other.read(key, emptyTail, signal)).events).toEqual([]);
      expect(await log.last(key, signal)).toMatchObject({ events: [], tail: emptyTail });
      expect(wordsOf((await other.read(kept, emptyTail, signal)).events)).toEqual(["1 k"]);
      expect(await other.append(key, first, batch(first, "late"), signal)).toEqual({
        kind: "conflict",
      });
      await appendEvents(log, key, emptyTail, batch(emptyTail, "anew"), signal);
      expect(wordsOf((await other.read(key, emptyTail, signal)).events)).toEqual(["1 anew"]);
    });

    test("stays if it was created after the revision, and goes with what was appended to it since", async () => {
      const [log, other] = writers();
      const key = fresh();
      const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      const late = await appendEvents(log, key, first, batch(first, "b"), signal);
      await appendEvents(log, key, late, batch(late, "c"), signal);
      await log.removeThrough(key, first.revision, signal);
      expect((await other.read(key, emptyTail, signal)).events).toEqual([]);
      const anew = await appendEvents(log, key, emptyTail, batch(emptyTail, "anew"), signal);
      await log.removeThrough(key, late.revision, signal);
      expect(wordsOf((await other.read(key, emptyTail, signal)).events)).toEqual(["1 anew"]);
      await log.removeThrough(key, anew.revision, signal);
      expect((await other.read(key, emptyTail, signal)).events).toEqual([]);
    });

    test("ends its followers, also when they had read it before", async () => {
      const [log, other] = writers();
      const key = fresh();
      const tail = await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      const followed = Promise.withResolvers<void>();
      const follow = async (after: number | typeof tail) => {
        const seen: string[] = [];
        for await (const { events } of other.follow(key, after, signal)) {
          seen.push(...wordsOf(events));
          followed.resolve();
        }
        return seen;
      };
      const fromStart = follow(0);
      await followed.promise;
      const fromTail = follow(tail);
      await log.remove(key, signal);
      expect(await fromStart).toEqual(["1 a"]);
      expect(await fromTail).toEqual([]);
    });
  });
}
