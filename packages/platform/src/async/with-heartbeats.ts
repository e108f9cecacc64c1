/**
 * The items of a stream, and "tick" for each `tick` that passes without one, so that a stream that is idle can say that it
 * lives. `open` is given a signal that aborts when the stream is left, also in the middle of waiting for an item.
 */
export async function* withHeartbeats<Item>(
  open: (signal: AbortSignal) => AsyncIterable<Item>,
  tick: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): AsyncIterable<Item | "tick"> {
  const end = new AbortController();
  const items = open(AbortSignal.any([signal, end.signal]))[Symbol.asyncIterator]();
  try {
    let next = items.next();
    for (;;) {
      const first = await firstOf(next, tick, signal);
      if (first === "tick") yield first;
      else if (first.done === true) return;
      else {
        yield first.value;
        next = items.next();
      }
    }
  } finally {
    end.abort(new DOMException("nobody listens any more", "AbortError"));
    await items.return?.().catch(() => undefined);
  }
}

/** One for all: an exception for each item, with its stack, is a noticeable part of what streaming one costs. */
const itemCame = new DOMException("an item came first", "AbortError");

async function firstOf<Item>(
  next: Promise<IteratorResult<Item>>,
  tick: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<IteratorResult<Item> | "tick"> {
  const ticking = new AbortController();
  const ticked = tick(AbortSignal.any([signal, ticking.signal])).then(() => "tick" as const);
  try {
    return await Promise.race([next, ticked]);
  } finally {
    ticking.abort(itemCame);
    ticked.catch(() => undefined);
  }
}
