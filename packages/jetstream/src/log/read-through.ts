import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { EventRange, Log } from "./port.ts";
import { emptyTail } from "./port.ts";

/**
 * Reads a whole log that is known to have an event at `sequence`. Throws a Failure of kind `unavailable` when the store does not
 * have it: a server that lags, or has just become the leader, answers from an older state. A log that is in memory with that event is not
 * read: the result may lack what was appended since, as with any read whose caller appends by compare-and-append.
 */
export async function readThrough<Key, Event>(
  log: Pick<Log<Key, Event>, "read" | "readHeld">,
  key: Key,
  sequence: number,
  signal: AbortSignal,
): Promise<EventRange<Event>> {
  const held = sequence > 0 ? await log.readHeld?.(key, signal) : undefined;
  if (held !== undefined && held.tail.sequence >= sequence) return held;
  const range = await log.read(key, emptyTail, signal);
  if (range.tail.sequence >= sequence) return range;
  throw lagging(key, range, sequence);
}

/**
 * The same for a log that may have been deleted since its event was delivered: undefined if it is gone. `log` confirms the absence of
 * what it does not find, so that a server which lags does not look like a deletion.
 */
export async function readThroughUnlessDeleted<Key, Event>(
  log: Pick<Log<Key, Event>, "read">,
  key: Key,
  sequence: number,
  signal: AbortSignal,
): Promise<EventRange<Event> | undefined> {
  const range = await log.read(key, emptyTail, signal);
  if (range.tail.sequence >= sequence) return range;
  if (range.events.length === 0) return undefined;
  throw lagging(key, range, sequence);
}

function lagging(key: unknown, { tail }: EventRange<unknown>, sequence: number): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the log ${Object.values(key as object).join("/")} was read up to sequence ${tail.sequence}, but has ${sequence}; try again in a few seconds`,
  );
}
