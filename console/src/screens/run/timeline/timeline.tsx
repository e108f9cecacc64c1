import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { formatDollars } from "../../../format/amounts.ts";
import { formatDuration, formatExact } from "../../../format/time.ts";
import type { Span } from "../../../run/run-model.ts";
import type { TimeScale } from "../../../run/time-scale.ts";
import { timeScale } from "../../../run/time-scale.ts";
import { Empty } from "../../../ui/empty.tsx";
import { useNow } from "../../../ui/use-now.ts";
import type { RunViewProps } from "../view-props.ts";
import "../../../styles/timeline.css";

const rowPx = 30;

/** What took how long: model calls, tool calls, waits, and which worker did it. Time without work is drawn shorter. */
export function Timeline({ snapshot: { run } }: RunViewProps) {
  const tickMs = useNow();
  const list = useRef<HTMLDivElement>(null);
  const rows = useWindowVirtualizer({
    count: run.spans.length,
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
  return (
    <div className="timeline">
      <Axis scale={scale} totalMs={endMs - startMs} />
      <div
        ref={list}
        className="timeline-rows"
        role="list"
        aria-label="Timeline"
        style={{ height: rows.getTotalSize() }}
      >
        {rows.getVirtualItems().map((row) => {
          const span = run.spans[row.index];
          if (span === undefined) return null;
          const top = row.start - rows.options.scrollMargin;
          return <Row key={row.key} span={span} scale={scale} top={top} endMs={endMs} />;
        })}
      </div>
    </div>
  );
}

/** The parts without work that are long enough to be named. */
function Axis({ scale, totalMs }: { readonly scale: TimeScale; readonly totalMs: number }) {
  return (
    <div className="timeline-axis" aria-hidden="true">
      <div className="timeline-track">
        <span className="axis-end">{formatDuration(totalMs)}</span>
        {scale.segments
          .filter(({ isIdle, from, to }) => isIdle && to - from > 0.02)
          .map(({ startMs, endMs, from, to }) => (
            <span
              key={startMs}
              className="idle"
              style={{ left: percent(from), width: percent(to - from) }}
            >
              {formatDuration(endMs - startMs)}
            </span>
          ))}
      </div>
    </div>
  );
}

interface RowProps {
  readonly span: Span;
  readonly scale: TimeScale;
  readonly top: number;
  readonly endMs: number;
}

function Row({ span, scale, top, endMs }: RowProps) {
  const from = scale.place(span.startMs);
  const to = scale.place(span.endMs ?? endMs);
  const duration = formatDuration((span.endMs ?? endMs) - span.startMs);
  const isClaim = span.kind === "claim";
  const name = span.attempt > 1 && !isClaim ? `${span.label}, attempt ${span.attempt}` : span.label;
  const title = [
    name,
    isClaim ? `claim ${span.attempt}` : duration,
    span.detail,
    span.costUsd > 0 ? formatDollars(span.costUsd) : "",
    formatExact(span.startMs),
  ];
  return (
    <div
      role="listitem"
      className="timeline-row"
      style={{ top }}
      title={title.filter((each) => each !== "").join("\n")}
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
        {isClaim ? `claim ${span.attempt}` : duration}
        {span.failed && <span className="bad"> failed</span>}
      </span>
    </div>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
