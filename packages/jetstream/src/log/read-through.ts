import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { EventRange, Log } from "./port.ts";
import { emptyTail } from "./port.ts";

/**
 * Reads a whole log that is known to have an event at `sequence`. Throws a Failure of kind `unavailable` when the store does not
 * have it: a server that lags, or has just become the leader, answers from an older state.
 */
export async function readThrough<Key, Event>(
  log: Pick<Log<Key, Event>, "read">,
  key: Key,
  sequence: number,
  signal: AbortSignal,
): Promise<EventRange<Event>> {
  const range = await log.read(key, emptyTail, signal);
  if (range.tail.sequence >= sequence) return range;
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the log ${Object.values(key as object).join("/")} was read up to sequence ${range.tail.sequence}, but has ${sequence}; try again in a few seconds`,
  );
}
