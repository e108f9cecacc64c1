import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { formatDollars } from "../../../format/amounts.ts";
import { formatDuration, formatExact } from "../../../format/time.ts";
import { nestedSpans } from "../../../run/timeline/nested-spans.ts";
import type { Span } from "../../../run/run-model.ts";
import type { TimeScale, TimeSegment } from "../../../run/timeline/time-scale.ts";
import { timeScale } from "../../../run/timeline/time-scale.ts";
import { Empty } from "../../../ui/empty.tsx";
import { useNow } from "../../../ui/use-now.ts";
import type { RunViewProps } from "../view-props.ts";
import "../../../styles/timeline.css";

const rowPx = 30;
/** The share of the track that the label of an idle part may take: one that is cut would be another number. */
const labelShare = 0.12;
/** The share of the cost of a run from which on a model call shows its own. */
const costlyShare = 0.1;

/** What took how long: model calls, tool calls, waits, and which worker did it. Time without work is drawn shorter. */
export function Timeline({ snapshot: { run } }: RunViewProps) {
  const tickMs = useNow();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<Span | undefined>();
  const spans = nestedSpans(run.spans);
  const rows = useWindowVirtualizer({
    count: spans.length,
    estimateSize: () => rowPx,
    overscan: 20,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  if (run.spans.length === 0) {
    return <Empty title="Nothing has started yet">The run waits for a worker.</Empty>;
  }
  const startMs = run.startedAtMs ?? run.spans[0]?.startMs ?? 0;
  const lastMs = run.spans.reduce((last, span) => Math.max(last, span.endMs ?? span.startMs), 0);
  const endMs = run.endedAtMs ?? Math.max(tickMs, lastMs);
  const work = run.spans
    .filter(({ kind }) => kind === "model" || kind === "tool")
    .map((span) => ({ startMs: span.startMs, endMs: span.endMs ?? endMs }));
  const scale = timeScale(work, startMs, endMs);
  const isCollapsed = scale.segments.some((segment) => isShortened(segment, scale));
  return (
    <div className="timeline">
      {isCollapsed && (
        <p className="timeline-hint">
          Not to scale: time without work is drawn shorter, with dashes below its length.
        </p>
      )}
      <Axis scale={scale} totalMs={endMs - startMs} />
      <div
        ref={list}
        className="timeline-rows"
        role="list"
        aria-label="Timeline"
        style={{ height: rows.getTotalSize() }}
      >
        {rows.getVirtualItems().map((row) => {
          const span = spans[row.index];
          if (span === undefined) return null;
          const top = row.start - rows.options.scrollMargin;
          return (
            <Row
              key={row.key}
              span={span}
              scale={scale}
              top={top}
              endMs={endMs}
              isCostly={span.kind === "model" && span.costUsd > run.usage.costUsd * costlyShare}
              isChosen={span === chosen}
              onChoose={() => setChosen(span === chosen ? undefined : span)}
            />
          );
        })}
      </div>
      <p role="status" className={chosen === undefined ? "" : "timeline-details"}>
        {chosen !== undefined && detailsOf(chosen, endMs).join("\n")}
      </p>
    </div>
  );
}

/** The parts without work that are long enough to be named. */
function Axis({ scale, totalMs }: { readonly scale: TimeScale; readonly totalMs: number }) {
  return (
    <div className="timeline-axis" aria-hidden="true">
      <div className="timeline-track">
        <span className="axis-end">{formatDuration(totalMs)}</span>
        {labelled(scale.segments.filter(({ isIdle, from, to }) => isIdle && to - from > 0.02)).map(
          ({ startMs, endMs, from, to, hasLabel, align }) => (
            <span
              key={startMs}
              className="idle"
              style={{ left: percent(from), width: percent(to - from), justifyContent: align }}
            >
              {hasLabel && <span>{formatDuration(endMs - startMs)}</span>}
            </span>
          ),
        )}
      </div>
    </div>
  );
}

interface RowProps {
  readonly span: Span;
  readonly scale: TimeScale;
  readonly top: number;
  readonly endMs: number;
  /** Whether its cost is shown beside its duration. */
  readonly isCostly: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

/** What is known of a span, a line each. */
function detailsOf(span: Span, endMs: number): readonly string[] {
  const isClaim = span.kind === "claim";
  return [
    nameOfSpan(span),
    isClaim ? `claim ${span.attempt}` : formatDuration((span.endMs ?? endMs) - span.startMs),
    span.detail,
    span.costUsd > 0 ? formatDollars(span.costUsd) : "",
    formatExact(span.startMs),
  ].filter((each) => each !== "");
}

function nameOfSpan({ attempt, kind, label }: Span): string {
  return attempt > 1 && kind !== "claim" ? `${label}, attempt ${attempt}` : label;
}

function Row({ span, scale, top, endMs, isCostly, isChosen, onChoose }: RowProps) {
  const from = scale.place(span.startMs);
  const to = scale.place(span.endMs ?? endMs);
  const duration = formatDuration((span.endMs ?? endMs) - span.startMs);
  const isClaim = span.kind === "claim";
  const name = nameOfSpan(span);
  return (
    <div role="listitem">
      <button
        type="button"
        className="timeline-row"
        style={{ top }}
        aria-pressed={isChosen}
        title={detailsOf(span, endMs).join("\n")}
        onClick={onChoose}
      >
        <span className="timeline-name" style={{ paddingInlineStart: span.depth * 14 }}>
          <span className={`kind kind-${span.kind}`} aria-hidden="true" />
          <span className="clip">{name}</span>
        </span>
        <span className="timeline-track">
          <span
            className={`bar bar-${span.kind}${span.failed ? " failed" : ""}${span.endMs === undefined ? " open" : ""}`}
            style={{ left: percent(from), width: `max(3px, ${percent(to - from)})` }}
          />
        </span>
        <span className="timeline-time tabular">
          {isClaim ? `claim ${span.attempt}` : span.kind === "hook" ? "hook" : duration}
          {isCostly && ` · ${formatDollars(span.costUsd)}`}
          {span.failed && <span className="bad"> failed</span>}
        </span>
      </button>
    </div>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

/** Whether an idle part is drawn shorter than the work beside it. */
function isShortened(
  { isIdle, startMs, endMs, from, to }: TimeSegment,
  { segments }: TimeScale,
): boolean {
  const busy = segments.find((segment) => !segment.isIdle);
  if (!isIdle || busy === undefined) return false;
  const density = (busy.to - busy.from) / (busy.endMs - busy.startMs);
  return (to - from) / (endMs - startMs) < density * 0.99;
}

/** Says which idle parts have room for their label. */
function labelled(idle: readonly TimeSegment[]) {
  let free = -labelShare / 2;
  return idle.map((segment) => {
    const center = (segment.from + segment.to) / 2;
    const hasLabel = center - labelShare / 2 >= free;
    if (hasLabel) free = center + labelShare / 2;
    const isAtEnd = center + labelShare / 2 > 1;
    const align = isAtEnd ? "flex-end" : center < labelShare / 2 ? "flex-start" : "center";
    return { ...segment, hasLabel, align };
  });
}
