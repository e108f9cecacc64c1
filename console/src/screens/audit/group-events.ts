import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditPhase } from "@reeve/contracts/audit";
import { msOf } from "../../format/time.ts";

/** Events that say the same of the same person, one after the other. */
export interface EventGroup {
  /** Newest first. */
  readonly events: readonly AuditEvent[];
  /** How many calls they stand for. */
  readonly calls: number;
}

/** How long after an event of a group the next one may follow. */
const maxGapMs = 600_000;

/**
 * Puts events into one group that one person caused with the same credential, action, choices, and outcome, each within ten minutes of the
 * next. Groups are in the order of their newest events, so that repetitions of one person do not hide what else was done.
 */
export function groupEvents(events: readonly AuditEvent[]): readonly EventGroup[] {
  const groups: AuditEvent[][] = [];
  /** The group to which the next event of a kind may belong. */
  const open = new Map<string, { readonly group: AuditEvent[]; readonly oldestMs: number }>();
  for (const event of events) {
    const ms = msOf(event.time) ?? 0;
    const kind = kindOf(event);
    const last = open.get(kind);
    const joins = last !== undefined && last.oldestMs - ms <= maxGapMs;
    const group = joins ? last.group : [];
    group.push(event);
    open.set(kind, { group, oldestMs: ms });
    if (!joins) groups.push(group);
  }
  return groups.map((group) => ({ events: group, calls: callsOf(group) }));
}

function kindOf(event: AuditEvent): string {
  const { subject, credential, action, choices } = event;
  const chosen = Object.entries(choices).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([subject, credential?.id, action, chosen, outcomeOf(event)]);
}

/** Whether a call was not refused. A client that leaves a stream has read what it wanted. */
export function isAccepted({ code }: AuditEvent): boolean {
  return code === "OK" || code === "CANCELLED";
}

function outcomeOf(event: AuditEvent): string {
  return isAccepted(event) ? "" : `${event.code} ${event.reason}`;
}

/** Returns each event as a group of its own. */
export function singleEvents(events: readonly AuditEvent[]): readonly EventGroup[] {
  return events.map((event) => ({ events: [event], calls: callsOf([event]) }));
}

/** The beginning of a stream is the same call as its end: it counts only while none of them has ended. */
function callsOf(events: readonly AuditEvent[]): number {
  const ended = events.filter(({ phase }) => phase !== AuditPhase.BEGIN);
  return (ended.length > 0 ? ended : events).reduce(
    (sum, { count }) => sum + Math.max(1, count),
    0,
  );
}
