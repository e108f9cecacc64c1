import { expect, test } from "vitest";
import { FillBackoff } from "./fill-backoff.ts";

const bytes = 1_000;

function bench() {
  const store = { nowMs: 0, storedBytes: 50_000 };
  const backoff = new FillBackoff({
    bytes,
    clock: { now: () => store.nowMs },
    storedBytes: () => Promise.resolve(store.storedBytes),
  });
  const look = (isWhole: boolean, lastSequence = 1) =>
    backoff.noteLook({ isWhole, isEmpty: !isWhole, lastSequence });
  const lookAtPart = (lastSequence: number) =>
    backoff.noteLook({ isWhole: false, isEmpty: false, lastSequence });
  return { store, backoff, look, lookAtPart };
}

test("after a failure, the reserve is filled when its size became free, or after ten seconds", async () => {
  const { store, backoff } = bench();
  expect(await backoff.mayFill()).toBe(true);
  await backoff.noteFailure();
  expect(await backoff.mayFill()).toBe(false);
  store.storedBytes -= bytes;
  expect(await backoff.mayFill()).toBe(true);
  store.storedBytes += bytes;
  store.nowMs = 9_999;
  expect(await backoff.mayFill()).toBe(false);
  store.nowMs = 10_000;
  expect(await backoff.mayFill()).toBe(true);
});

test("failures in a row double the time without an attempt up to a minute, until the reserve stayed for one", async () => {
  const { store, backoff, look } = bench();
  const waitedMs = async () => {
    const fromMs = store.nowMs;
    await backoff.noteFailure();
    while (!(await backoff.mayFill())) store.nowMs += 1_000;
    return store.nowMs - fromMs;
  };
  const waits = [await waitedMs(), await waitedMs(), await waitedMs(), await waitedMs()];
  expect(waits).toEqual([10_000, 20_000, 40_000, 60_000]);
  look(true);
  expect(await waitedMs()).toBe(60_000);
  look(true);
  store.nowMs += 60_000;
  look(true);
  expect(await waitedMs()).toBe(10_000);
});

test("a reserve that is freed within a minute is a failure, and later it is none", () => {
  const { store, backoff, look } = bench();
  backoff.noteFill(1);
  store.nowMs = 59_999;
  expect(look(false)).toBe(true);
  expect(look(false)).toBe(false);
  expect(look(true)).toBe(false);
  store.nowMs += 60_000;
  expect(look(false)).toBe(false);
});

test("a reserve that another process filled between two looks, and that is empty again, is a failure", () => {
  const { look } = bench();
  expect(look(false, 32)).toBe(false);
  expect(look(false, 32)).toBe(false);
  expect(look(false, 64)).toBe(true);
  expect(look(false, 64)).toBe(false);
});

test("a reserve that another process fills, or fills to another size, is no failure", () => {
  const { look, lookAtPart } = bench();
  expect(look(false, 0)).toBe(false);
  expect(lookAtPart(10)).toBe(false);
  expect(look(true, 32)).toBe(false);
  expect(lookAtPart(96)).toBe(false);
  expect(look(false, 96)).toBe(false);
});

test("what this process wrote in vain does not count twice", async () => {
  const { backoff, look } = bench();
  expect(look(false, 32)).toBe(false);
  await backoff.noteFailure(50);
  expect(look(false, 50)).toBe(false);
});

test("a whole reserve ends the wait", async () => {
  const { backoff, look } = bench();
  await backoff.noteFailure();
  look(true);
  expect(await backoff.mayFill()).toBe(true);
});
