import type { AuditEvent } from "@reeve/contracts/audit";
import { RepeatedEvents } from "./repeated-events.ts";

/**
 * Passes on the first refusal of each kind at once, and counts those that follow within a minute: then one event stands for all
 * of them. So a client that repeats requests in vain cannot fill the trail. At most `maxKinds` kinds are told apart in a minute;
 * all other refusals of a tenant count as one kind.
 */
export class RepeatedRefusals {
  readonly #events: RepeatedEvents;
  readonly #pass: (event: AuditEvent) => void;

  constructor(maxKinds: number, pass: (event: AuditEvent) => void) {
    this.#events = new RepeatedEvents(maxKinds);
    this.#pass = pass;
  }

  /** Passes on or counts a refusal. */
  add(kind: string, event: AuditEvent, nowMs: number): void {
    this.flush(nowMs);
    if (this.#events.isFirst(kind, event, nowMs)) this.#pass(event);
  }

  /** Passes on the counts of the kinds whose minute is over; of all kinds if `nowMs` is Infinity. */
  flush(nowMs: number): void {
    for (const counted of this.#events.flush(nowMs)) this.#pass(counted);
  }
}
