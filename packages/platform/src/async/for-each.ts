import { Semaphore } from "./coordination/semaphore.ts";
import { TaskSet } from "./task-set.ts";

/** What is done for each item. */
export interface Work<Item> {
  /** Yields the items, until `signal` aborts. */
  readonly items: (signal: AbortSignal) => AsyncIterable<Item>;
  /** How many items are worked on at a time, at most. */
  readonly max: number;
  readonly work: (item: Item, signal: AbortSignal) => Promise<void>;
}

/**
 * Works on many items, several at a time. When one fails, or `signal` aborts, aborts the others, waits for them, and rejects with the
 * first error.
 */
export async function forEach<Item>(
  { items, max, work }: Work<Item>,
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const permits = new Semaphore(max);
  const tasks = new TaskSet();
  try {
    for await (const item of items(until)) {
      const permit = await permits.acquire(until);
      const task = work(item, until).catch((error: unknown) => end.abort(error));
      void tasks.add(task.finally(() => permit[Symbol.dispose]()));
    }
  } catch (error) {
    end.abort(error);
  } finally {
    await tasks.settled();
  }
  until.throwIfAborted();
}
