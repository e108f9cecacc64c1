import { steadyClock } from "@reeve/platform/async/clock";
import { settledWithin } from "@reeve/platform/async/settled-within";
import type { Change, ChangeBatch, KeyedChange, ReadPosition, UnreadableRow } from "./port.ts";
import { maxBatchedChanges } from "./port.ts";
import type { RetryDelays, WaitingRow } from "./unreadable-rows.ts";
import { UnreadableRows } from "./unreadable-rows.ts";

/** Where a reader continues. */
interface Reached<Item> {
  /** The item before those of the source. */
  readonly last: Item;
  readonly unreadable: readonly UnreadableRow[];
}

/** Items that have changes of rows, and how to read a row again. */
interface ChangeSource<Item, Record> {
  readonly delays: RetryDelays;
  /** Absent: the reader has nothing yet. */
  readonly reached?: Reached<Item>;
  open(signal: AbortSignal): AsyncIterable<Item>;
  changesOf(item: Item): readonly KeyedChange<Record>[];
  /** Returns items with changes that come between two others. `last` is the item before them. */
  itemsOf(changes: readonly KeyedChange<Record>[], last: Item): Iterable<Item>;
  /**
   * Returns the row, that it is gone, or that it is still unreadable. Undefined: it was written again, and the source will yield a
   * newer change.
   */
  read(row: WaitingRow, signal: AbortSignal): Promise<KeyedChange<Record> | undefined>;
}

/** What a table provides of a source; the rest is the same for all its readers. */
export type TableSource<Item, Record> = Omit<ChangeSource<Item, Record>, "delays" | "read">;

/** Returns the source of a reader that gets one change at a time. */
export function sourceOfChanges<Record>(
  open: (signal: AbortSignal) => AsyncIterable<Change<Record>>,
): TableSource<Change<Record>, Record> {
  return {
    open,
    changesOf: (change) => (change.kind === "current" ? [] : [change]),
    itemsOf: (changes) => changes,
  };
}

/** Returns the source of a reader that gets batches, and continues at a position. */
export function sourceOfBatches<Record>(
  { revision: start, unreadable = [] }: ReadPosition,
  open: (signal: AbortSignal) => AsyncIterable<ChangeBatch<Record>>,
): TableSource<ChangeBatch<Record>, Record> {
  return {
    reached: { last: { changes: [], revision: start }, unreadable },
    open,
    changesOf: ({ changes }) => changes,
    itemsOf: (changes, { revision }) => [{ changes, revision }],
  };
}

const over = new DOMException("the reader has ended", "AbortError");

/**
 * Yields the items of a source. Reads the rows again that could not be read, and yields them when they can be. The rows of one tenant
 * never hold up those of others, and a row never becomes older.
 */
export async function* retryUnreadable<Item, Record>(
  { delays, reached, open, changesOf, itemsOf, read }: ChangeSource<Item, Record>,
  signal: AbortSignal,
): AsyncIterable<Item> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const rows = new UnreadableRows(delays);
  const { now } = steadyClock;
  const items = open(until)[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Item>> | undefined;
  let last = reached?.last;
  let isRetryNext = false;
  for (const row of reached?.unreadable ?? []) rows.note(row, now());
  try {
    for (;;) {
      next ??= items.next();
      const waitMs = rows.waitMs(now());
      // Neither keeps the other waiting: new changes, and rows that can be read again.
      const isRetried: boolean = isRetryNext && waitMs !== undefined && waitMs <= 0;
      isRetryNext = !isRetried;
      if (!isRetried && (await isThere(next, waitMs, signal))) {
        const { done, value } = await next;
        next = undefined;
        if (done === true) return;
        for (const change of changesOf(value)) rows.note(change, now());
        last = value;
        yield value;
      } else if (last !== undefined) {
        const tried = await readDue(rows.due(maxBatchedChanges), (row) => read(row, signal));
        rows.tried(tried, now());
        const changes = tried.filter(({ kind }) => kind !== "unreadable");
        if (changes.length > 0) yield* itemsOf(changes, last);
      }
    }
  } finally {
    end.abort(over);
    next?.catch(() => undefined);
    await items.return?.();
  }
}

/** Reads rows of one tenant. If its key is not available for the first one, the others wait, too. */
async function readDue<Record>(
  [first, ...others]: readonly WaitingRow[],
  read: (row: WaitingRow) => Promise<KeyedChange<Record> | undefined>,
): Promise<readonly KeyedChange<Record>[]> {
  if (first === undefined) return [];
  const change = await read(first);
  const isLocked = change?.kind === "unreadable" && change.error.kind === "unavailable";
  const rest = isLocked ? [] : await Promise.all(others.map(read));
  return [change, ...rest].filter((each) => each !== undefined);
}

async function isThere(
  next: Promise<unknown>,
  waitMs: number | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (waitMs === undefined) return true;
  return await settledWithin(next, Math.max(waitMs, 0), signal);
}
