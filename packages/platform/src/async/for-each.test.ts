import { describe, expect, test } from "vitest";
import { forEach } from "./for-each.ts";

const never = new AbortController().signal;

async function* numbers(count: number): AsyncIterable<number> {
  for (let number = 0; number < count; number++) yield await Promise.resolve(number);
}

async function* failing(): AsyncIterable<number> {
  yield await Promise.resolve(0);
  throw new Error("no more");
}

/** Work that begins at once, and ends when it is told to or aborted. */
function heldWork() {
  const begun: number[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const aborted: number[] = [];
  const work = async (item: number, signal: AbortSignal) => {
    begun.push(item);
    const until = Promise.withResolvers<void>();
    held.push(until);
    signal.addEventListener("abort", () => {
      aborted.push(item);
      until.resolve();
    });
    await until.promise;
  };
  return { begun, held, aborted, work };
}

describe("work on many items", () => {
  test("is done for each, a few at a time", async () => {
    const { begun, held, work } = heldWork();
    const done = forEach({ items: () => numbers(5), max: 2, work }, never);
    for (let ended = 0; ended < 5; ended++) {
      await expect.poll(() => begun.length).toBe(Math.min(ended + 2, 5));
      held[ended]?.resolve();
    }
    await done;
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  test("ends with the error of one, when the others have ended", async () => {
    const { begun, held, aborted, work } = heldWork();
    const done = forEach({ items: () => numbers(9), max: 3, work }, never);
    await expect.poll(() => begun.length).toBe(3);
    held[1]?.reject(new Error("broken"));
    await expect(done).rejects.toThrow("broken");
    expect(aborted).toEqual([0, 1, 2]);
    expect(begun).toHaveLength(3);
  });

  test("ends with the error of what yields the items, when those in work have ended", async () => {
    const { aborted, work } = heldWork();
    await expect(forEach({ items: failing, max: 2, work }, never)).rejects.toThrow("no more");
    expect(aborted).toEqual([0]);
  });

  test("ends with the reason of its signal", async () => {
    const { begun, aborted, work } = heldWork();
    const end = new AbortController();
    const done = forEach({ items: () => numbers(3), max: 3, work }, end.signal);
    await expect.poll(() => begun.length).toBe(3);
    end.abort(new Error("stopped"));
    await expect(done).rejects.toThrow("stopped");
    expect(aborted).toEqual([0, 1, 2]);
  });
});
