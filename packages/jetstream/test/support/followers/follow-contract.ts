import { describe, expect, test } from "vitest";
import { emptyTail } from "../../../src/log/port.ts";
import type { Log } from "../../../src/log/port.ts";
import type { LogKind } from "../facts.ts";
import { appendEvents, followUntil, range } from "../facts.ts";

/** The contract of the followers of a log. `mixedLengths` are the lengths of the batches of a long history. */
export function followContract<Key, Event extends { readonly sequence: number }>(
  where: string,
  { fresh, batch, wordsOf }: Pick<LogKind<Key, Event>, "fresh" | "batch" | "wordsOf">,
  writers: () => readonly [Log<Key, Event>, Log<Key, Event>],
  mixedLengths: readonly number[],
): void {
  describe(`a follower of a log ${where}`, () => {
    const signal = new AbortController().signal;

    test("follows a long history whose end grows while it is read", async () => {
      const [log, other] = writers();
      const key = fresh();
      let tail = emptyTail;
      const append = async (lengths: readonly number[]) => {
        for (const length of lengths) {
          tail = await appendEvents(log, key, tail, batch(tail, "x".repeat(length)), signal);
        }
      };
      await append(mixedLengths);
      const followers = range(1, 4).map(() =>
        followUntil(other.follow(key, 0, signal), 2 * mixedLengths.length),
      );
      await append(mixedLengths);
      for (const events of await Promise.all(followers)) {
        expect(wordsOf(events).map((line) => line.split(" ")[1]?.length)).toEqual([
          ...mixedLengths,
          ...mixedLengths,
        ]);
      }
    });

    test("follows what is stored and then what is appended, each event once", async () => {
      const [log, other] = writers();
      const key = fresh();
      let tail = await appendEvents(log, key, emptyTail, batch(emptyTail, "a", "b", "c"), signal);
      const following = followUntil(other.follow(key, 0, signal), 63);
      for (let index = 0; index < 60; index++) {
        tail = await appendEvents(log, key, tail, batch(tail, `w${index}`), signal);
      }
      expect((await following).map(({ sequence }) => sequence)).toEqual(range(1, 63));
    });

    test.each([1, 3, 4])(
      "follows from sequence %i, also out of the middle of a batch",
      async (after) => {
        const [log, other] = writers();
        const key = fresh();
        const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a", "b"), signal);
        const tail = await appendEvents(log, key, first, batch(first, "c", "d"), signal);
        const following = followUntil(other.follow(key, after, signal), 5);
        await appendEvents(log, key, tail, batch(tail, "e"), signal);
        expect((await following).map(({ sequence }) => sequence)).toEqual(range(after + 1, 5));
      },
    );

    test("follows after a tail that was read", async () => {
      const [log, other] = writers();
      const key = fresh();
      const first = await appendEvents(log, key, emptyTail, batch(emptyTail, "a", "b"), signal);
      const { tail: read } = await other.read(key, emptyTail, signal);
      const tail = await appendEvents(log, key, first, batch(first, "c"), signal);
      const following = followUntil(other.follow(key, read, signal), 5);
      const later = await appendEvents(log, key, tail, batch(tail, "d"), signal);
      await appendEvents(log, key, later, batch(later, "e"), signal);
      expect(wordsOf(await following)).toEqual(["3 c", "4 d", "5 e"]);
    });

    test("follows from beyond the end once the log gets there", async () => {
      const [log, other] = writers();
      const key = fresh();
      let tail = await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      const following = followUntil(other.follow(key, 3, signal), 5);
      for (const word of ["b", "c", "d", "e"]) {
        tail = await appendEvents(log, key, tail, batch(tail, word), signal);
      }
      expect(wordsOf(await following)).toEqual(["4 d", "5 e"]);
    });

    test("follows a run that does not exist yet", async () => {
      const [log, other] = writers();
      const key = fresh();
      const following = followUntil(other.follow(key, 0, signal), 1);
      await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      expect(wordsOf(await following)).toEqual(["1 a"]);
    });

    test("yields all events to a slow follower", async () => {
      const [log, other] = writers();
      const key = fresh();
      let tail = await appendEvents(log, key, emptyTail, batch(emptyTail, "a"), signal);
      const sequences: number[] = [];
      for await (const range of other.follow(key, 0, signal)) {
        sequences.push(...range.events.map(({ sequence }) => sequence));
        if (range.tail.sequence === 1) {
          for (let index = 0; index < 600; index++) {
            tail = await appendEvents(log, key, tail, batch(tail, `w${index}`), signal);
          }
        }
        if (range.tail.sequence === tail.sequence) break;
      }
      expect(sequences).toEqual(range(1, 601));
    });

    test("ends a follower with its signal's reason", async () => {
      const [log] = writers();
      const stop = new AbortController();
      const following = followUntil(log.follow(fresh(), 0, stop.signal), 1);
      stop.abort(new Error("enough"));
      await expect(following).rejects.toThrow("enough");
    });
  });
}
