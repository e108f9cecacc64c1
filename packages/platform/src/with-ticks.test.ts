import { expect, test } from "vitest";
import { withTicks } from "./with-ticks.ts";

const never = new AbortController().signal;

/** Resolves when its signal aborts, with an error. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  return promise;
}

test("items come as they are, and the end is the end", async () => {
  async function* open() {
    yield* await Promise.resolve(["a", "b"]);
  }
  const heard: string[] = [];
  for await (const item of withTicks(open, aborted, never)) heard.push(item);
  expect(heard).toEqual(["a", "b"]);
});

test("an idle stream ticks, and loses no item by it", async () => {
  const { promise: item, resolve: arrive } = Promise.withResolvers<string>();
  async function* open() {
    yield await item;
  }
  const heard: string[] = [];
  for await (const next of withTicks(open, () => Promise.resolve(), never)) {
    heard.push(next);
    if (heard.length === 3) arrive("late");
  }
  expect(heard.slice(0, 3)).toEqual(["tick", "tick", "tick"]);
  expect(heard.at(-1)).toBe("late");
});

test("leaving ends a stream that waits for its next item", async () => {
  let reason: unknown;
  async function* open(signal: AbortSignal): AsyncIterable<string> {
    try {
      yield await aborted(signal);
    } catch (error) {
      reason = error;
      throw error;
    }
  }
  for await (const _ of withTicks(open, () => Promise.resolve(), never)) break;
  expect(reason).toMatchObject({ name: "AbortError" });
});

test("what the stream throws, and the signal's reason, are thrown", async () => {
  async function* broken(): AsyncIterable<string> {
    yield await Promise.reject(new Error("broken"));
  }
  const all = async (items: AsyncIterable<string>) => {
    for await (const _ of items);
  };
  await expect(all(withTicks(broken, aborted, never))).rejects.toThrow("broken");
  async function* silent(signal: AbortSignal): AsyncIterable<string> {
    yield await aborted(signal);
  }
  const stop = new AbortController();
  const listening = all(withTicks(silent, aborted, stop.signal));
  stop.abort(new Error("enough"));
  await expect(listening).rejects.toThrow("enough");
});
