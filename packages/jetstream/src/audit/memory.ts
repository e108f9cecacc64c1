import type { AuditEvent } from "@reeve/contracts/audit";
import type { Clock } from "@reeve/platform/async/clock";
import { systemClock } from "@reeve/platform/async/clock";
import type { AuditRange, AuditStart, AuditTrail, StoredAuditEvent } from "./port.ts";
import { noTenant } from "./port.ts";

/** How many events a read returns at most. */
const maxEvents = 10;

/** An audit trail in memory, for tests. */
export class MemoryAuditTrail implements AuditTrail {
  readonly #events: StoredAuditEvent[] = [];
  readonly #clock: Pick<Clock, "now">;
  /** What appending throws. Default: it does not throw. */
  failure: Error | undefined;
  /** What appending without the reserve throws. Default: it does not throw. */
  failsWithoutReserve: Error | undefined;

  /** `clock` is the clock of the store. Default: the one of this machine. */
  constructor(clock: Pick<Clock, "now"> = systemClock) {
    this.#clock = clock;
  }

  /** All events, oldest first. */
  get events(): readonly AuditEvent[] {
    return this.#events.map(({ event }) => event);
  }

  append(event: AuditEvent, options: { readonly usesReserve: boolean }): Promise<void> {
    const failure = this.failure ?? (options.usesReserve ? undefined : this.failsWithoutReserve);
    if (failure !== undefined) return Promise.reject(failure);
    if (!this.events.some(({ eventId }) => eventId === event.eventId)) {
      this.#events.push({
        position: this.#events.length + 1,
        storedMs: this.#clock.now(),
        event,
      });
    }
    return Promise.resolve();
  }

  read(tenant: string, start: AuditStart): Promise<AuditRange> {
    const { before = Infinity, beforeMs = Infinity } = start;
    const found = this.#events
      .filter(({ event }) => (event.tenant || noTenant) === tenant)
      .filter(({ position }) => position < before)
      .toReversed();
    const newest = found.findIndex(({ storedMs }) => storedMs < beforeMs);
    const older = newest < 0 ? [] : found.slice(newest);
    const events = older.slice(0, maxEvents);
    const olderBefore = older.length > maxEvents ? events.at(-1)?.position : undefined;
    return Promise.resolve({ events, olderBefore });
  }
}
