import { create } from "@bufbuild/protobuf";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditEventSchema } from "@reeve/contracts/audit";

/** How long events of the same kind are counted before an event says how many there were. */
const windowMs = 60_000;

/** The start of no other kind. */
const othersPrefix = "\0";

interface Repeated {
  readonly untilMs: number;
  /** The events since the first one. */
  count: number;
  last: AuditEvent | undefined;
}

/**
 * Counts events that repeat one of the same kind within a minute. At most `maxKinds` kinds are told apart in a minute; all other
 * events of a tenant count as one kind.
 */
export class RepeatedEvents {
  readonly #kinds = new Map<string, Repeated>();
  readonly #maxKinds: number;

  constructor(maxKinds: number) {
    this.#maxKinds = maxKinds;
  }

  /** Whether nothing is counted. */
  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** Returns whether an event is the first of its kind, and counts it otherwise. */
  isFirst(kind: string, event: AuditEvent, nowMs: number): boolean {
    const isNew = !this.#kinds.has(kind) && this.#kinds.size < this.#maxKinds;
    const others = `${othersPrefix}${event.tenant}`;
    const key = isNew || this.#kinds.has(kind) ? kind : others;
    const repeated = this.#kinds.get(key);
    if (repeated === undefined) {
      this.#kinds.set(key, { untilMs: nowMs + windowMs, count: 0, last: undefined });
      return true;
    }
    repeated.count++;
    // Those of several kinds have different callers.
    repeated.last = key === others ? anonymous(event) : event;
    return false;
  }

  /** Returns one event for each kind that was repeated and whose minute is over; for all kinds if `nowMs` is Infinity. */
  flush(nowMs: number): readonly AuditEvent[] {
    const counted: AuditEvent[] = [];
    for (const [kind, { untilMs, count, last }] of this.#kinds) {
      // The end of a minute that is farther away: the clock went back.
      if (untilMs > nowMs && untilMs <= nowMs + windowMs) continue;
      this.#kinds.delete(kind);
      if (last !== undefined) counted.push({ ...last, count });
    }
    return counted;
  }
}

function anonymous({ eventId, time, tenant, action, method, code }: AuditEvent): AuditEvent {
  return create(AuditEventSchema, {
    eventId,
    tenant,
    action,
    method,
    code,
    ...(time && { time }),
  });
}
