import { create } from "@bufbuild/protobuf";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditEventSchema } from "@reeve/contracts/audit";

/** How long refusals of the same kind are counted before an event says how many there were. */
const windowMs = 60_000;

/** The start of no other kind. */
const othersPrefix = "\0";

interface Repeated {
  readonly untilMs: number;
  /** The refusals since the event that was passed on. */
  count: number;
  last: AuditEvent | undefined;
}

/**
 * Passes on the first refusal of each kind at once, and counts those that follow within a minute: then one event stands for all
 * of them. So a client that repeats requests in vain cannot fill the trail. At most `maxKinds` kinds are told apart in a minute;
 * all other refusals of a tenant count as one kind.
 */
export class RepeatedRefusals {
  readonly #kinds = new Map<string, Repeated>();
  readonly #maxKinds: number;
  readonly #pass: (event: AuditEvent) => void;

  constructor(maxKinds: number, pass: (event: AuditEvent) => void) {
    this.#maxKinds = maxKinds;
    this.#pass = pass;
  }

  /** Passes on or counts a refusal. */
  add(kind: string, event: AuditEvent, nowMs: number): void {
    this.flush(nowMs);
    const isNew = !this.#kinds.has(kind) && this.#kinds.size < this.#maxKinds;
    const others = `${othersPrefix}${event.tenant}`;
    const key = isNew || this.#kinds.has(kind) ? kind : others;
    const repeated = this.#kinds.get(key);
    if (repeated === undefined) {
      this.#kinds.set(key, { untilMs: nowMs + windowMs, count: 0, last: undefined });
      return this.#pass(event);
    }
    repeated.count++;
    // Those of several kinds have different callers.
    repeated.last = key === others ? anonymous(event) : event;
  }

  /** Passes on the counts of the kinds whose minute is over; of all kinds if `nowMs` is Infinity. */
  flush(nowMs: number): void {
    for (const [kind, { untilMs, count, last }] of this.#kinds) {
      // The end of a minute that is farther away: the clock went back.
      if (untilMs > nowMs && untilMs <= nowMs + windowMs) continue;
      this.#kinds.delete(kind);
      if (last !== undefined) this.#pass({ ...last, count });
    }
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
