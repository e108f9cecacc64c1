import { formatAgo, formatDuration, formatExact, formatTimeOfDay } from "../format/time.ts";
import { useMinute, useNow } from "./use-now.ts";

/** A time relative to now, with the exact time on hover. */
export function Ago({ ms }: { readonly ms: number | undefined }) {
  const now = useNow();
  if (ms === undefined) return <span className="muted">–</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {formatAgo(ms, now)}
    </time>
  );
}

/** The time of the day, with the day if it is another one, and the exact time on hover. */
export function Clock({ ms }: { readonly ms: number | undefined }) {
  const now = useMinute();
  if (ms === undefined) return <span className="muted">–</span>;
  const isToday = new Date(ms).toDateString() === new Date(now * 60_000).toDateString();
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {isToday ? formatTimeOfDay(ms) : formatExact(ms)}
    </time>
  );
}

interface ElapsedProps {
  readonly from: number | undefined;
  /** Undefined: it has not ended. */
  readonly to: number | undefined;
}

/** How long something took, or takes so far. */
export function Elapsed({ from, to }: ElapsedProps) {
  if (from === undefined) return <span className="muted">–</span>;
  return to === undefined ? <Counting from={from} /> : <span>{formatDuration(to - from)}</span>;
}

function Counting({ from }: { readonly from: number }) {
  const now = useNow();
  return <span>{formatDuration(Math.max(0, Math.floor((now - from) / 1_000) * 1_000))}</span>;
}
