import { listenTo } from "./follow/listen-to.ts";
import type {
  BatchReader,
  EventRange,
  Log,
  PartReader,
  SettledLog,
  Tail,
  TailReader,
} from "./port.ts";

type Readable<Key, Event> = Log<Key, Event> &
  TailReader<Key, Event> &
  PartReader<Key, Event> &
  BatchReader<Key>;

/**
 * Returns a log whose readers may say that a log does not exist: they read again, once the store has confirmed what it knows,
 * before they return nothing of a log. A log that exists costs no more than without.
 */
export function confirmAbsence<Key, Event>(
  log: Readable<Key, Event> & SettledLog<Key>,
): Readable<Key, Event> {
  const confirmed = async <Range extends EventRange<Event>>(
    key: Key,
    read: () => Promise<Range>,
    signal: AbortSignal,
  ): Promise<Range> => {
    const seen = await read();
    // A caller that read a part of the log has its tail: only an empty log has none.
    if (seen.tail.sequence > 0) return seen;
    await log.settle(signal, key);
    return await read();
  };
  return {
    append: (...given) => log.append(...given),
    read: (key, tail, signal) => confirmed(key, () => log.read(key, tail, signal), signal),
    ...(log.readHeld && { readHeld: async (...given) => await log.readHeld?.(...given) }),
    last: (key, signal) => confirmed(key, () => log.last(key, signal), signal),
    readPart: (key, tail, maxBytes, signal) =>
      confirmed(key, () => log.readPart(key, tail, maxBytes, signal), signal),
    readBatches: (key, signal) => confirmedBatches(log, key, signal),
    follow: (key, after, signal) => {
      const follow = (from: number | Tail) => log.follow(key, from, signal);
      return confirmedEvents(log, { key, after, first: follow(after), follow }, signal);
    },
    listen(key) {
      const listener = listenTo(log, key);
      return {
        follow: (after, signal) => {
          const follow = (from: number | Tail) => log.follow(key, from, signal);
          const first = listener.follow(after, signal);
          return confirmedEvents(log, { key, after, first, follow }, signal);
        },
        [Symbol.dispose]: () => listener[Symbol.dispose](),
      };
    },
  };
}

async function* confirmedBatches<Key, Event>(
  log: Readable<Key, Event> & SettledLog<Key>,
  key: Key,
  signal: AbortSignal,
): ReturnType<BatchReader<Key>["readBatches"]> {
  let isEmpty = true;
  for await (const batch of log.readBatches(key, signal)) {
    isEmpty = false;
    yield batch;
  }
  if (!isEmpty) return;
  await log.settle(signal, key);
  yield* log.readBatches(key, signal);
}

/** Where a log is followed from, and how: at first, and again when a server said that it was removed. */
interface Following<Key, Event> {
  readonly key: Key;
  readonly after: Tail | number;
  readonly first: AsyncIterable<EventRange<Event>>;
  follow(from: Tail | number): AsyncIterable<EventRange<Event>>;
}

/** Follows a log, also when a server says wrongly that the log was removed. */
async function* confirmedEvents<Key, Event>(
  log: Pick<Readable<Key, Event>, "last"> & SettledLog<Key>,
  { key, after, first, follow }: Following<Key, Event>,
  signal: AbortSignal,
): ReturnType<Log<Key, Event>["follow"]> {
  let from = after;
  const reached = () => (typeof from === "number" ? from : from.sequence);
  let ranges = first;
  do {
    for await (const range of ranges) {
      from = range.tail;
      yield range;
    }
    await log.settle(signal, key);
    ranges = follow(from);
  } while ((await log.last(key, signal)).tail.sequence >= Math.max(1, reached()));
}
