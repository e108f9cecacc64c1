import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { retried } from "./retried.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Returns a part that loads after some failures, and how often it was asked for. */
function partAfter(failures: number) {
  const seen = { loads: 0 };
  const load = retried(async () => {
    seen.loads++;
    if (seen.loads <= failures) throw new Error(`failure ${seen.loads}`);
    return "the part";
  });
  return { seen, load };
}

test("a part that loads is asked for once", async () => {
  const { seen, load } = partAfter(0);
  expect(await load()).toBe("the part");
  expect(seen.loads).toBe(1);
});

test("a part whose request fails is asked for again", async () => {
  const { load } = partAfter(3);
  const loaded = load();
  await vi.runAllTimersAsync();
  expect(await loaded).toBe("the part");
});

test("a part that cannot be loaded fails with the last error", async () => {
  const { seen, load } = partAfter(Infinity);
  const outcome = load().catch(String);
  await vi.runAllTimersAsync();
  expect(await outcome).toBe("Error: failure 4");
  expect(seen.loads).toBe(4);
});

test("a part that failed can be asked for later", async () => {
  const { load } = partAfter(4);
  const outcome = load().catch(String);
  await vi.runAllTimersAsync();
  expect(await outcome).toBe("Error: failure 4");
  expect(await load()).toBe("the part");
});
