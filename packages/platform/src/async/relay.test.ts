import { expect, test } from "vitest";
import type { RelayEnd, RelayOptions } from "./relay.ts";
import { relay } from "./relay.ts";

/** A stream of three numbers, which records whether its reader left it. */
function numbers() {
  const state = { isLeft: false };
  async function* stream() {
    let isWhole = false;
    try {
      yield* [1, 2, 3];
      isWhole = true;
    } finally {
      state.isLeft = !isWhole;
    }
  }
  return { state, stream: stream() };
}

/** Relays a stream and records how it ends. */
function recorded<Item>(source: AsyncIterable<Item>, options: RelayOptions<Item> = {}) {
  const ends: RelayEnd[] = [];
  return { ends, relayed: relay(source, { ...options, onEnd: (end) => ends.push(end) }) };
}

async function* failing(): AsyncIterable<number> {
  yield 1;
  throw new Error("broken");
}

async function* stuck() {
  try {
    yield* [1, 2];
  } finally {
    await Promise.reject(new Error("stuck"));
  }
}

function mappedError(cause: unknown): Error {
  return new Error("mapped", { cause });
}

function refuseTwo(item: number): void {
  if (item === 2) throw new Error("refused");
}

test("passes on every item, and says once that the stream has ended", async () => {
  const seen: number[] = [];
  const { ends, relayed } = recorded(numbers().stream, { onItem: (item) => seen.push(item) });
  expect(await Array.fromAsync(relayed)).toEqual([1, 2, 3]);
  expect(seen).toEqual([1, 2, 3]);
  expect(await relayed.next()).toEqual({ done: true, value: undefined });
  expect(ends).toEqual([{ kind: "ended" }]);
});

test("leaves the stream with its reader, also before the first item", async () => {
  for (const count of [0, 1]) {
    const { state, stream } = numbers();
    const { ends, relayed } = recorded(stream);
    for (let item = 0; item < count; item++) await relayed.next();
    await relayed.return?.();
    await relayed.return?.();
    expect(ends).toEqual([{ kind: "left" }]);
    expect(state.isLeft).toBe(count > 0);
    expect((await relayed.next()).done).toBe(true);
  }
});

test("throws what an error is mapped to", async () => {
  const { ends, relayed } = recorded(failing(), { mapError: mappedError });
  await expect(Array.fromAsync(relayed)).rejects.toThrow("mapped");
  expect(ends).toEqual([{ kind: "failed", error: new Error("broken") }]);
});

test("ends and leaves the stream when an item is refused", async () => {
  const { state, stream } = numbers();
  const { ends, relayed } = recorded(stream, { onItem: refuseTwo });
  await expect(Array.fromAsync(relayed)).rejects.toThrow("refused");
  expect(state.isLeft).toBe(true);
  expect(ends).toEqual([{ kind: "failed", error: new Error("refused") }]);
});

test("leaves the stream when its reader throws into it", async () => {
  const { state, stream } = numbers();
  const { ends, relayed } = recorded(stream);
  await relayed.next();
  await expect(relayed.throw?.(new Error("no more"))).rejects.toThrow("no more");
  expect(state.isLeft).toBe(true);
  expect(ends).toEqual([{ kind: "failed", error: new Error("no more") }]);
});

test("ends when the stream cannot be left", async () => {
  const leaving = recorded(stuck(), { mapError: mappedError });
  await leaving.relayed.next();
  await expect(leaving.relayed.return?.()).rejects.toThrow("mapped");
  expect(leaving.ends).toEqual([{ kind: "failed", error: new Error("stuck") }]);
  const refusing = recorded(stuck(), { onItem: refuseTwo });
  await expect(Array.fromAsync(refusing.relayed)).rejects.toThrow("refused");
  expect(refusing.ends).toEqual([{ kind: "failed", error: new Error("refused") }]);
});
