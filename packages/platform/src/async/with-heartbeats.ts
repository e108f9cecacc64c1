/**
 * Yields the items of a stream, and "heartbeat" whenever `interval` resolves before the next item, so that an idle stream can
 * prove that it is alive. `interval` starts anew with each item and heartbeat. `open` receives a signal that aborts when the
 * reader leaves the stream, even during the wait for an item.
 */
export async function* withHeartbeats<Item>(
  open: (signal: AbortSignal) => AsyncIterable<Item>,
  interval: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): AsyncIterable<Item | "heartbeat"> {
  const end = new AbortController();
  const items = open(AbortSignal.any([signal, end.signal]))[Symbol.asyncIterator]();
  try {
    let next = items.next();
    for (;;) {
      const first = await firstOf(next, interval, signal);
      if (first === "heartbeat") yield first;
      else if (first.done === true) return;
      else {
        yield first.value;
        next = items.next();
      }
    }
  } finally {
    end.abort(readerLeft);
    await items.return?.().catch(() => undefined);
  }
}

/** Shared by all: creating an exception with its stack for each item is a noticeable part of the cost of streaming one. */
const readerLeft = new DOMException("the reader left the stream", "AbortError");
const itemArrived = new DOMException("an item arrived first", "AbortError");

async function firstOf<Item>(
  next: Promise<IteratorResult<Item>>,
  interval: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<IteratorResult<Item> | "heartbeat"> {
  const waiting = new AbortController();
  const over = interval(AbortSignal.any([signal, waiting.signal])).then(() => "heartbeat" as const);
  try {
    return await Promise.race([next, over]);
  } finally {
    waiting.abort(itemArrived);
    over.catch(() => undefined);
  }
}
