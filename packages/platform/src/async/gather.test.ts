import { describe, expect, test } from "vitest";
import { gather } from "./gather.ts";

const never = new AbortController().signal;

/** A source of numbers that a test gives, and a wait that it ends. */
function source() {
  const given: PromiseWithResolvers<number | undefined>[] = [Promise.withResolvers()];
  const waits: { end: () => void; signal: AbortSignal }[] = [];
  async function* items() {
    for (let index = 0; ; index++) {
      const item = await given[index]?.promise;
      if (item === undefined) return;
      yield item;
    }
  }
  const give = (item: number | undefined) => {
    given.push(Promise.withResolvers());
    given.at(-2)?.resolve(item);
  };
  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve) => void waits.push({ end: resolve, signal }));
  return { items: items(), give, wait, waits };
}

async function* failing() {
  yield 1;
  await Promise.resolve();
  throw new Error("broken");
}

async function* two() {
  yield 1;
  yield 2;
  await Promise.resolve();
  throw new Error("broken");
}

describe("gathered items", () => {
  test("are yielded together when they arrive before the wait is over", async () => {
    const { items, give, wait, waits } = source();
    const groups = gather(items, { maxItems: 10, wait }, never)[Symbol.asyncIterator]();
    const first = groups.next();
    give(1);
    give(2);
    await expect.poll(() => waits.length).toBe(1);
    await new Promise(setImmediate);
    waits[0]?.end();
    expect(await first).toEqual({ done: false, value: [1, 2] });
    const second = groups.next();
    give(3);
    give(undefined);
    expect(await second).toEqual({ done: false, value: [3] });
    expect((await groups.next()).done).toBe(true);
  });

  test("are yielded without a wait when there are as many as may be, or no more", async () => {
    const { items, give, wait, waits } = source();
    for (const item of [1, 2, 3, undefined]) give(item);
    expect(await Array.fromAsync(gather(items, { maxItems: 2, wait }, never))).toEqual([
      [1, 2],
      [3],
    ]);
    expect(waits.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  test("may fail while the reader works on a full group", async () => {
    const groups = gather(two(), { maxItems: 2, wait: source().wait }, never)[
      Symbol.asyncIterator
    ]();
    expect(await groups.next()).toEqual({ done: false, value: [1, 2] });
    await new Promise(setImmediate);
    await expect(groups.next()).rejects.toThrow("broken");
  });

  test("fail as their source does", async () => {
    const groups = gather(failing(), { maxItems: 2, wait: source().wait }, never);
    await expect(Array.fromAsync(groups)).rejects.toThrow("broken");
  });
});
