import { expect, test } from "vitest";
import type { HeartbeatInterval } from "./with-heartbeats.ts";
import { withHeartbeats } from "./with-heartbeats.ts";

const never = new AbortController().signal;

/** Resolves when its signal aborts, with an error. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  return promise;
}

function every(wait: (signal: AbortSignal) => Promise<void>): HeartbeatInterval {
  return { everyMs: 10, clock: { now: () => 0, sleep: (_, signal) => wait(signal) } };
}

async function* letters() {
  yield* await Promise.resolve(["a", "b"]);
}

async function* broken(): AsyncIterable<string> {
  yield await Promise.reject(new Error("broken"));
}

async function* silent(signal: AbortSignal): AsyncIterable<string> {
  yield await aborted(signal);
}

async function* oneLetter(signal: AbortSignal): AsyncIterable<string> {
  yield "a";
  yield await aborted(signal);
}

async function drained(items: AsyncIterable<string>): Promise<void> {
  for await (const _ of items);
}

test("items pass through unchanged, up to the end of the stream", async () => {
  const heard: string[] = [];
  for await (const item of withHeartbeats(letters, every(aborted), never)) heard.push(item);
  expect(heard).toEqual(["a", "b"]);
});

test("an idle stream yields heartbeats, and loses no item", async () => {
  const { promise: item, resolve: arrive } = Promise.withResolvers<string>();
  async function* open() {
    yield await item;
  }
  const heard: string[] = [];
  for await (const next of withHeartbeats(
    open,
    every(() => Promise.resolve()),
    never,
  )) {
    heard.push(next);
    if (heard.length === 3) arrive("late");
  }
  expect(heard.slice(0, 3)).toEqual(["heartbeat", "heartbeat", "heartbeat"]);
  expect(heard.at(-1)).toBe("late");
});

test("an item starts the time anew", async () => {
  let nowMs = 0;
  const sleeps: { readonly delayMs: number; end(): void }[] = [];
  const sleep = (delayMs: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    sleeps.push({ delayMs, end: resolve });
    return promise;
  };
  const clock = { now: () => nowMs, sleep };
  const stream = withHeartbeats(oneLetter, { everyMs: 10, clock }, never)[Symbol.asyncIterator]();
  expect((await stream.next()).value).toBe("a");
  nowMs = 4;
  const next = stream.next();
  // The time runs since before the item.
  expect(sleeps).toHaveLength(1);
  nowMs = 10;
  sleeps[0]?.end();
  await expect.poll(() => sleeps.length).toBe(2);
  expect(sleeps.map(({ delayMs }) => delayMs)).toEqual([10, 4]);
  sleeps[1]?.end();
  expect((await next).value).toBe("heartbeat");
  await stream.return?.();
});

test("leaving the stream ends the wait for its next item", async () => {
  let reason: unknown;
  async function* open(signal: AbortSignal): AsyncIterable<string> {
    try {
      yield await aborted(signal);
    } catch (error) {
      reason = error;
      throw error;
    }
  }
  for await (const _ of withHeartbeats(
    open,
    every(() => Promise.resolve()),
    never,
  ))
    break;
  expect(reason).toMatchObject({ name: "AbortError" });
});

test("the stream's error and the signal's reason are thrown", async () => {
  await expect(drained(withHeartbeats(broken, every(aborted), never))).rejects.toThrow("broken");
  const stop = new AbortController();
  const listening = drained(withHeartbeats(silent, every(aborted), stop.signal));
  stop.abort(new Error("enough"));
  await expect(listening).rejects.toThrow("enough");
});
