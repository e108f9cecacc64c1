import { describe, expect, test } from "vitest";
import { listenTo } from "../../../src/log/follow/listen-to.ts";
import { emptyTail } from "../../../src/log/port.ts";
import type { Log } from "../../../src/log/port.ts";
import type { LogKind } from "../facts.ts";
import { appendEvents, followUntil } from "../facts.ts";

/** The contract of the listeners of a log. `writers` returns several connections to the same log. */
export function listenerContract<Key, Event extends { readonly sequence: number }>(
  where: string,
  { fresh, batch, wordsOf }: LogKind<Key, Event>,
  writers: () => readonly [Log<Key, Event>, Log<Key, Event>],
): void {
  describe(`a listener of a log ${where}`, () => {
    const signal = new AbortController().signal;

    test("follows after an append of its process, with what others appended before it follows", async () => {
      const [log, other] = writers();
      const key = fresh();
      const created = await appendEvents(other, key, emptyTail, batch(emptyTail, "a"), signal);
      using listener = listenTo(log, key);
      const own = await appendEvents(log, key, created, batch(created, "b"), signal);
      const next = await appendEvents(other, key, own, batch(own, "c", "d"), signal);
      await appendEvents(other, key, next, batch(next, "e"), signal);
      const followed = await followUntil(listener.follow(own, signal), 5);
      expect(wordsOf(followed)).toEqual(["3 c", "4 d", "5 e"]);
    });

    test("follows a log that began after it", async () => {
      const [log, other] = writers();
      const key = fresh();
      using listener = listenTo(log, key);
      const following = followUntil(listener.follow(emptyTail, signal), 3);
      const first = await appendEvents(other, key, emptyTail, batch(emptyTail, "a", "b"), signal);
      await appendEvents(other, key, first, batch(first, "c"), signal);
      expect(wordsOf(await following)).toEqual(["1 a", "2 b", "3 c"]);
    });

    test("follows with more than it can hold", async () => {
      const [log, other] = writers();
      const key = fresh();
      using listener = listenTo(log, key);
      let tail = emptyTail;
      for (let index = 1; index <= 600; index++) {
        tail = await appendEvents(other, key, tail, batch(tail, `w${index}`), signal);
      }
      const followed = await followUntil(listener.follow(emptyTail, signal), 600);
      expect(followed.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 600 }, (_, index) => index + 1),
      );
    });

    test("yields what others append, although its reader appends too and skips that", async () => {
      const [log, other] = writers();
      const key = fresh();
      using listener = listenTo(log, key);
      let tail = await appendEvents(log, key, emptyTail, batch(emptyTail, "own"), signal);
      listener.skip?.(tail);
      await appendEvents(other, key, tail, batch(tail, "other"), signal);
      const seen: Event[] = [];
      for await (const { events, tail: end } of listener.follow(tail, signal)) {
        seen.push(...events);
        if (!wordsOf(events).some((word) => word.endsWith("other"))) continue;
        if (end.sequence === 6) break;
        tail = end;
        tail = await appendEvents(log, key, tail, batch(tail, "own"), signal);
        listener.skip?.(tail);
        await appendEvents(other, key, tail, batch(tail, "other"), signal);
      }
      expect(wordsOf(seen).filter((word) => word.endsWith("other"))).toEqual([
        "2 other",
        "4 other",
        "6 other",
      ]);
    });

    test("ends its follower with the reason of the signal", async () => {
      const [log] = writers();
      const stop = new AbortController();
      using listener = listenTo(log, fresh());
      const following = followUntil(listener.follow(emptyTail, stop.signal), 1);
      stop.abort(new Error("enough"));
      await expect(following).rejects.toThrow("enough");
    });
  });
}
