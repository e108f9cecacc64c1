import type { AuditEvent } from "@reeve/contracts/audit";

/** Events that say the same of the same person, one after the other. */
export interface EventGroup {
  /** Newest first. */
  readonly events: readonly AuditEvent[];
  /** How many calls they stand for. */
  readonly calls: number;
}

/**
 * Puts events into one group that one person caused with the same action and outcome, without another event of that person between
 * them. Groups are in the order of their newest events, so that repetitions of one person do not hide what others did.
 */
export function groupEvents(events: readonly AuditEvent[]): readonly EventGroup[] {
  const groups: AuditEvent[][] = [];
  /** The group to which the next event of a person may belong. */
  const open = new Map<string, { readonly kind: string; readonly group: AuditEvent[] }>();
  for (const event of events) {
    const kind = JSON.stringify([event.action, event.code, event.reason]);
    const last = open.get(event.subject);
    if (last?.kind === kind) {
      last.group.push(event);
      continue;
    }
    const group = [event];
    open.set(event.subject, { kind, group });
    groups.push(group);
  }
  return groups.map((group) => ({ events: group, calls: callsOf(group) }));
}

/** Returns each event as a group of its own. */
export function singleEvents(events: readonly AuditEvent[]): readonly EventGroup[] {
  return events.map((event) => ({ events: [event], calls: callsOf([event]) }));
}

function callsOf(events: readonly AuditEvent[]): number {
  return events.reduce((sum, { count }) => sum + Math.max(1, count), 0);
}
