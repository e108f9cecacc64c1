import { fromBinary } from "@bufbuild/protobuf";
import { AuditEventSchema } from "@reeve/contracts/audit";
import type { StoredMessage, StreamMessages } from "../streams/stream-messages.ts";
import type { AuditRange, AuditStart, StoredAuditEvent } from "./port.ts";
import { noTenant } from "./port.ts";

/** How many messages are read at the same time at most. */
const maxReadAhead = 64;
/** How many times a read looks for the next older events. */
const maxSteps = 32;

/** Whose events are read, and their subject. */
interface Trail {
  readonly tenant: string;
  readonly subject: string;
}

/**
 * Reads the events of a tenant from the newest to the oldest. The stream finds the next event after a position only, so the next
 * older event is searched for by halves.
 */
export class BackwardReader {
  readonly #messages: StreamMessages;
  readonly #trail: Trail;

  constructor(messages: StreamMessages, trail: Trail) {
    this.#messages = messages;
    this.#trail = trail;
  }

  async read({ before, beforeMs }: AuditStart, signal: AbortSignal): Promise<AuditRange> {
    const events: StoredAuditEvent[] = [];
    const first = await this.#nextFrom(1);
    const last = await this.#messages.latest({ last_by_subj: this.#trail.subject });
    if (first === undefined || last === undefined) return { events, olderBefore: undefined };
    let end = Math.min(before ?? Infinity, last.sequence + 1);
    if (beforeMs !== undefined) end = await this.#endBefore(beforeMs, first.sequence, end, signal);
    let [readAhead, distance] = [maxReadAhead, 1];
    for (let step = 0; step < maxSteps && events.length < maxReadAhead; step++) {
      signal.throwIfAborted();
      if (end <= first.sequence) return { events, olderBefore: undefined };
      const newest = await this.#lastBefore({ end, distance }, first.sequence, signal);
      const oldest = Math.max(first.sequence, newest - readAhead + 1);
      const found = await this.#eventsIn(oldest, newest);
      events.push(...found);
      // Where the events of others are between them, the next one is as far away, and most reads would be in vain.
      readAhead = Math.max(1, Math.min(maxReadAhead, 2 * found.length));
      distance = Math.max(1, end - newest);
      end = oldest;
    }
    return { events, olderBefore: end <= first.sequence ? undefined : end };
  }

  /**
   * Returns the position of the last event before `end`, which is about `distance` before it. There is one at `first`, which is
   * before `end`.
   */
  async #lastBefore(
    { end, distance }: { readonly end: number; readonly distance: number },
    first: number,
    signal: AbortSignal,
  ): Promise<number> {
    let [low, high] = [first, end];
    for (let tried = distance; ; tried *= 4) {
      const position = Math.max(first, end - tried);
      const found = await this.#positionFrom(position, signal);
      if (found < end) {
        low = found;
        break;
      }
      high = position;
    }
    return (await this.#highest({ low, high }, (found) => found.sequence < end, signal)) ?? low;
  }

  /** Returns the position after the last event, from `first` on and before `end`, that was stored before `timeMs`. */
  async #endBefore(
    timeMs: number,
    first: number,
    end: number,
    signal: AbortSignal,
  ): Promise<number> {
    const isBefore = (found: StoredMessage) => found.sequence < end && storedMsOf(found) < timeMs;
    const last = await this.#highest({ low: first - 1, high: end }, isBefore, signal);
    return (last ?? first - 1) + 1;
  }

  /**
   * Returns the position of the last event with a property that no event after it has. There is none from `high` on. Undefined:
   * there is none after `low`.
   */
  async #highest(
    { low, high }: { readonly low: number; readonly high: number },
    has: (found: StoredMessage) => boolean,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let result: number | undefined;
    let [from, to] = [low + 1, high];
    while (from < to) {
      signal.throwIfAborted();
      const middle = Math.floor((from + to) / 2);
      const found = await this.#nextFrom(middle);
      if (found !== undefined && has(found)) {
        result = found.sequence;
        from = found.sequence + 1;
      } else to = middle;
    }
    return result;
  }

  async #positionFrom(position: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    return (await this.#nextFrom(position))?.sequence ?? Infinity;
  }

  #nextFrom(position: number): Promise<StoredMessage | undefined> {
    return this.#messages.latest({ next_by_subj: this.#trail.subject, seq: position });
  }

  /** Returns the events from `oldest` to `newest`, newest first. Skips those of other tenants, and those that have expired. */
  async #eventsIn(oldest: number, newest: number): Promise<readonly StoredAuditEvent[]> {
    const positions = Array.from({ length: newest - oldest + 1 }, (_, index) => newest - index);
    const found = await Promise.all(positions.map((seq) => this.#messages.stored({ seq })));
    return found
      .filter((message) => message !== undefined)
      .map((message) => ({
        position: message.sequence,
        storedMs: storedMsOf(message),
        event: fromBinary(AuditEventSchema, message.data),
      }))
      .filter(({ event }) => (event.tenant || noTenant) === this.#trail.tenant);
  }
}

function storedMsOf({ storedAt }: StoredMessage): number {
  return Date.parse(storedAt);
}
