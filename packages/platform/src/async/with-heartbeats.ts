import type { Clock } from "./clock.ts";

/** How often an idle stream has a heartbeat, in milliseconds, by which clock. */
export interface HeartbeatInterval {
  readonly everyMs: number;
  readonly clock: Clock;
}

/**
 * Yields the items of a stream, and "heartbeat" whenever the time of `interval` is over before the next item, so that an idle stream can
 * prove that it is alive. The time starts anew with each item and heartbeat. `open` receives a signal that aborts when the reader leaves
 * the stream, even during the wait for an item.
 */
export async function* withHeartbeats<Item>(
  open: (signal: AbortSignal) => AsyncIterable<Item>,
  interval: HeartbeatInterval,
  signal: AbortSignal,
): AsyncIterable<Item | "heartbeat"> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const items = open(until)[Symbol.asyncIterator]();
  const beat = new Heartbeat(interval, until);
  try {
    let next = items.next();
    for (;;) {
      const first = await beat.or(next);
      if (first === "heartbeat") yield first;
      else if (first.done === true) return;
      else {
        yield first.value;
        next = items.next();
      }
      beat.restart();
    }
  } finally {
    end.abort(readerLeft);
    await items.return?.().catch(() => undefined);
  }
}

/** Shared by all: creating an exception with its stack for each stream is a noticeable part of the cost of a short one. */
const readerLeft = new DOMException("the reader left the stream", "AbortError");

/** One running interval for a whole stream: a timer and a signal for each item would cost more than most items. */
class Heartbeat {
  readonly #interval: HeartbeatInterval;
  readonly #signal: AbortSignal;
  #restartedAtMs: number;
  #isRunning = false;
  #waiting: { resolve(heartbeat: "heartbeat"): void; reject(error: unknown): void } | undefined;

  constructor(interval: HeartbeatInterval, signal: AbortSignal) {
    this.#interval = interval;
    this.#signal = signal;
    this.#restartedAtMs = interval.clock.now();
  }

  /** Starts the time anew. */
  restart(): void {
    this.#restartedAtMs = this.#interval.clock.now();
  }

  /** Resolves with the result of `next`, or when the time is over before it. Rejects as `next` and the interval do. */
  or<Result>(next: Promise<Result>): Promise<Result | "heartbeat"> {
    const { promise, resolve, reject } = Promise.withResolvers<Result | "heartbeat">();
    this.#waiting = { resolve, reject };
    next.then(resolve, reject);
    if (!this.#isRunning) this.#run();
    return promise;
  }

  #run(): void {
    const ranFromMs = this.#restartedAtMs;
    const { everyMs, clock } = this.#interval;
    // A clock that jumps must neither skip heartbeats nor add any.
    const elapsedMs = Math.min(Math.max(0, clock.now() - ranFromMs), everyMs);
    this.#isRunning = true;
    const over = () => {
      this.#isRunning = false;
      if (this.#restartedAtMs !== ranFromMs) this.#run();
      else this.#waiting?.resolve("heartbeat");
    };
    const failed = (error: unknown) => {
      this.#isRunning = false;
      this.#waiting?.reject(error);
    };
    clock.sleep(everyMs - elapsedMs, this.#signal).then(over, failed);
  }
}
