import { describe, expect, test } from "vitest";
import type { WatchedEntry } from "./latest-entries.ts";
import { readLatestEntries } from "./latest-entries.ts";

const never = new AbortController().signal;
const entry = (key: string, revision: number, delta: number): WatchedEntry => ({
  key,
  revision,
  delta,
});

/** Reads entries that a server sends in this order. `stored` is what the leader says at each question. */
async function read(sent: readonly WatchedEntry[], stored: readonly (number | undefined)[]) {
  const asked = stored.values();
  let last = stored.at(0);
  let count = 0;
  const found = await readLatestEntries(
    {
      lastRevision: async () => (last = asked.next().value ?? last),
      async *entries() {
        for (const each of sent) {
          count++;
          yield each;
        }
        throw new Error("the read waits for an entry that is never sent");
      },
    },
    never,
  );
  return { found: found.map(({ key, revision }) => `${key}@${revision}`), count };
}

describe("the latest entries", () => {
  test("are none when nothing was ever written", async () => {
    expect(await read([], [undefined])).toEqual({ found: [], count: 0 });
  });

  test("end with the last revision", async () => {
    const sent = [entry("a", 1, 1), entry("b", 2, 0), entry("c", 3, 0)];
    expect(await read(sent, [2])).toEqual({ found: ["a@1", "b@2"], count: 2 });
  });

  test("include an entry that replaced another one and that the server does not count yet", async () => {
    // The server has removed a@1, and sends b@2 before it counts a@3.
    const sent = [entry("b", 2, 0), entry("a", 3, 0)];
    expect(await read(sent, [2, 3])).toEqual({ found: ["b@2", "a@3"], count: 2 });
  });

  test("end although the server counts an entry that is never sent", async () => {
    expect(await read([entry("a", 1, 2), entry("b", 2, 1)], [2])).toMatchObject({ count: 2 });
  });

  test("end without an entry that was removed after it was last", async () => {
    expect(await read([entry("a", 1, 0)], [2, 1])).toEqual({ found: ["a@1"], count: 1 });
  });

  test("include all that a server sends one by one because it lags behind the leader", async () => {
    const sent = Array.from({ length: 30 }, (_, at) => entry(`${at}`, at + 1, 0));
    expect(await read(sent, [30])).toMatchObject({ count: 30 });
  });

  test("end although others never stop writing", async () => {
    const sent = Array.from({ length: 100 }, (_, at) => entry("a", at + 1, 1));
    const stored = sent.map((_, at) => at + 1);
    expect((await read(sent, stored)).count).toBeLessThan(20);
  });

  test("end although others write faster than the leader answers", async () => {
    const sent = Array.from({ length: 100 }, (_, at) => entry("a", at + 1, 0));
    const stored = sent.map((_, at) => 2 * at + 1);
    expect((await read(sent, stored)).count).toBeLessThan(20);
  });
});
