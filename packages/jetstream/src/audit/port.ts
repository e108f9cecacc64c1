import type { AuditEvent } from "@reeve/contracts/audit";

/** The tenant of events that have none. No tenant can have this name. */
export const noTenant = "_none";

/**
 * How long an event may be appended after its time: events are appended in about the order of their times. The store recognizes
 * repeated appends of an event for two minutes.
 */
export const maxAppendDelayMs = 110_000;

/** An event as the trail stores it. */
export interface StoredAuditEvent {
  /** The place of the event in the trail. Later events have larger ones; there are gaps between those of a tenant. */
  readonly position: number;
  /**
   * When the store stored it, in milliseconds since the epoch, by the clock of the store, whatever the clocks of those who
   * append. It increases with the position, except where the clock of a server was set back or another server became the leader.
   */
  readonly storedMs: number;
  readonly event: AuditEvent;
}

/** A part of the trail of a tenant. */
export interface AuditRange {
  /** Newest first. */
  readonly events: readonly StoredAuditEvent[];
  /** All older events are before this position. Undefined: there are none. */
  readonly olderBefore: number | undefined;
}

/** Where a read of the trail starts. */
export interface AuditStart {
  /** Only events before this position. Default: all. */
  readonly before?: number | undefined;
  /** Skips the newest events that were not stored before this time, in milliseconds since the epoch. Default: none. */
  readonly beforeMs?: number | undefined;
}

/** Appends to the audit trail. */
export interface AuditAppender {
  /**
   * Appends an event to the trail of its tenant. An event with the id of one that was appended in the last two minutes is not
   * appended again. Throws a Failure of kind `unavailable` or `exhausted` if the event may not have been stored.
   * `usesReserve`: whether the event may use the reserve of a full store.
   */
  append(event: AuditEvent, options: { readonly usesReserve: boolean }): Promise<void>;
}

/** Reads the audit trail. */
export interface AuditReader {
  /**
   * Reads events of a tenant, newest first. Reads a limited part of the trail: it may return few events, or none, although
   * there are older ones.
   */
  read(tenant: string, start: AuditStart, signal: AbortSignal): Promise<AuditRange>;
}

/** The audit trail: events that are appended, and never changed or removed before their age or number does. */
export interface AuditTrail extends AuditAppender, AuditReader {}
