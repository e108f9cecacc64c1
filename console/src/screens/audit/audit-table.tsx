import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditPhase } from "@reeve/contracts/audit";
import { Fragment, useState } from "react";
import { formatCount } from "../../format/amounts.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Ago, Clock } from "../../ui/times.tsx";
import type { EventGroup } from "./group-events.ts";
import { isAccepted } from "./group-events.ts";
import { ResourceLinks } from "./resource-links.tsx";

/** The events, with those that repeat each other in one row. */
export function AuditTable({ groups }: { readonly groups: readonly EventGroup[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  return (
    <div className="table-box" role="region" aria-label="Events" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            <th scope="col">Outcome</th>
            <th scope="col">Resources</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => {
            // The oldest stays when a newer one is added.
            const key = group.events.at(-1)?.eventId ?? "";
            const isOpen = open.has(key);
            return (
              <Fragment key={key}>
                <GroupRow group={group} isOpen={isOpen} onToggle={() => toggle(key)} />
                {isOpen &&
                  group.events.map((event) => <EventRow key={event.eventId} event={event} />)}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface GroupRowProps {
  readonly group: EventGroup;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function GroupRow({ group: { events, calls }, isOpen, onToggle }: GroupRowProps) {
  const [newest] = events;
  if (newest === undefined) return null;
  const oldest = events.at(-1) ?? newest;
  const addresses = [...new Set(events.map(({ clientAddress }) => clientAddress))];
  return (
    <tr>
      <td>
        <Ago ms={msOf(newest.time)} />
        {oldest !== newest && (
          <span className="sub">
            since <Ago ms={msOf(oldest.time)} />
          </span>
        )}
      </td>
      <td>{newest.subject || "not known"}</td>
      <td className="mono">
        {newest.action}
        {events.length > 1 && (
          <button type="button" className="button quiet" aria-expanded={isOpen} onClick={onToggle}>
            {isOpen ? "hide" : "show"} {formatCount(events.length)} events
          </button>
        )}
      </td>
      <td className="wrap outcome">
        <Outcome event={newest} />
        {calls > 1 && <span className="muted"> × {formatCount(calls)}</span>}
      </td>
      <td className="wrap grow">
        {newest.lost > 0 ? (
          `${formatCount(newest.lost)} events could not be stored`
        ) : (
          <ResourceLinks resources={events.flatMap(({ resources }) => resources)} />
        )}
      </td>
      <td className="mono">{addresses.length > 1 ? `${addresses.length} addresses` : addresses}</td>
    </tr>
  );
}

function EventRow({ event }: { readonly event: AuditEvent }) {
  return (
    <tr className="part">
      <td>
        <Clock ms={msOf(event.time)} />
      </td>
      <td />
      <td className="mono">{phases[event.phase] ?? ""}</td>
      <td className="wrap outcome">
        <Outcome event={event} />
        {event.count > 1 && <span className="muted"> × {formatCount(event.count)}</span>}
      </td>
      <td className="wrap grow">
        <ResourceLinks resources={event.resources} />
      </td>
      <td className="mono">{event.clientAddress}</td>
    </tr>
  );
}

const phases: Readonly<Record<number, string>> = {
  [AuditPhase.BEGIN]: "began",
  [AuditPhase.END]: "ended",
};

function Outcome({ event }: { readonly event: AuditEvent }) {
  const { code, reason, choices } = event;
  const isOk = isAccepted(event);
  const chosen = Object.entries(choices).map(([name, value]) => `${name}: ${value ? "yes" : "no"}`);
  return (
    <>
      <Badge name={isOk ? "ok" : reason || code} tone={isOk ? "ok" : "bad"} />
      {chosen.length > 0 && <span className="muted"> {chosen.join(", ")}</span>}
    </>
  );
}
