import { toJson } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { nameOfKind } from "../../../format/names.ts";
import { formatClock, formatExact, msOf } from "../../../format/time.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { JsonView } from "../../../ui/content/json-view.tsx";
import { curlOf } from "../curl-of.ts";
import { KindFilter } from "./kind-filter.tsx";
import { previewOf } from "./preview-of.ts";
import type { RunViewProps } from "../view-props.ts";
import "../../../styles/events.css";

const route = getRouteApi("/runs/$runId/{-$view}");

/** Every event of the run as it is stored. Only the rows in view are rendered, however many there are. */
export function EventList({ snapshot: { run } }: RunViewProps) {
  const [kinds, setKinds] = useState<ReadonlySet<string>>(new Set());
  const { at } = route.useSearch();
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set(at === undefined ? [] : [at]));
  const list = useRef<HTMLDivElement>(null);
  const { events, version } = run;
  const shown = useMemo(
    // The list grows in place; its version says when.
    () => (kinds.size === 0 ? events : events.filter(({ event }) => kinds.has(event.case ?? ""))),
    // oxlint-disable-next-line react/exhaustive-deps
    [events, kinds, version],
  );
  const rows = useWindowVirtualizer({
    count: shown.length,
    estimateSize: () => 33,
    getItemKey: (index) => shown[index]?.sequence ?? index,
    overscan: 20,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  useScrollTo(at, shown, rows.scrollToIndex);
  const toggle = (sequence: number) => {
    const next = new Set(open);
    if (!next.delete(sequence)) next.add(sequence);
    setOpen(next);
  };
  return (
    <>
      <KindFilter events={events} version={version} chosen={kinds} onChange={setKinds} />
      {shown.length === 0 && <Empty title="No events">No event of this run matches.</Empty>}
      <div
        ref={list}
        className="events"
        role="list"
        aria-label="Events"
        style={{ height: rows.getTotalSize() }}
      >
        {rows.getVirtualItems().map((row) => {
          const event = shown[row.index];
          if (event === undefined) return null;
          return (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              role="listitem"
              className="event"
              style={{ transform: `translateY(${row.start - rows.options.scrollMargin}px)` }}
            >
              <EventRow
                runId={run.runId}
                event={event}
                isOpen={open.has(event.sequence)}
                onToggle={() => toggle(event.sequence)}
              />
            </div>
          );
        })}
      </div>
    </>
  );
}

/** Scrolls once to the event that the address names, when it has arrived. */
function useScrollTo(
  at: number | undefined,
  shown: readonly RunEvent[],
  scrollTo: (index: number, options: { align: "center" }) => void,
): void {
  const scrolled = useRef<number>(undefined);
  const index = at === undefined ? -1 : indexOf(shown, at);
  useEffect(() => {
    if (index < 0 || scrolled.current === at) return;
    scrollTo(index, { align: "center" });
    scrolled.current = at;
  }, [at, index, scrollTo]);
}

/** Events are in the order of their sequences. */
function indexOf(shown: readonly RunEvent[], sequence: number): number {
  const last = shown.at(-1)?.sequence ?? 0;
  return sequence > last ? -1 : shown.findLastIndex((event) => event.sequence <= sequence);
}

interface EventRowProps {
  readonly runId: string;
  readonly event: RunEvent;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function EventRow({ runId, event, isOpen, onToggle }: EventRowProps) {
  const ms = msOf(event.time) ?? 0;
  return (
    <>
      <button type="button" className="event-head" aria-expanded={isOpen} onClick={onToggle}>
        <span className="event-number mono">{event.sequence}</span>
        <span className="event-time mono" title={formatExact(ms)}>
          {formatClock(ms)}
        </span>
        <span className="event-kind">{nameOfKind(event.event.case)}</span>
        <span className="event-text mono" style={{ paddingInlineStart: event.depth * 12 }}>
          {previewOf(event)}
        </span>
      </button>
      {isOpen && <EventJson runId={runId} event={event} />}
    </>
  );
}

function EventJson({ runId, event }: Pick<EventRowProps, "runId" | "event">) {
  const { origin } = window.location;
  const json = toJson(RunEventSchema, event);
  return (
    <div className="event-body">
      <div className="row">
        <CopyButton text={JSON.stringify(json, undefined, 2)} what="event" />
        <span className="muted">link</span>
        <CopyButton
          text={`${origin}/runs/${runId}/events?at=${event.sequence}`}
          what="link to this event"
        />
        <span className="muted">curl</span>
        <CopyButton text={curlOf(origin, runId, event.sequence - 1)} what="request as curl" />
      </div>
      <JsonView value={json} label={`Event ${event.sequence}`} />
    </div>
  );
}
