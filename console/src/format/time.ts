import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** Returns milliseconds since the epoch, or undefined for an unset time. */
export function msOf(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : Number(time.seconds) * 1_000 + time.nanos / 1_000_000;
}

/** Formats a duration so that its width changes little: `840 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a time relative to `nowMs`: `now`, `12 s ago`, `in 3 h`. */
export function formatAgo(timeMs: number, nowMs: number): string {
  const distance = Math.abs(nowMs - timeMs);
  if (distance < 5_000) return "now";
  const text = roughly(distance);
  return timeMs <= nowMs ? `${text} ago` : `in ${text}`;
}

function roughly(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

// Made when they are needed: each costs a part of the first view.
let exact: Intl.DateTimeFormat | undefined;
let clock: Intl.DateTimeFormat | undefined;
let timeOfDay: Intl.DateTimeFormat | undefined;

/** The exact time in the zone of the reader. */
export function formatExact(timeMs: number): string {
  exact ??= new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  return exact.format(timeMs);
}

export function formatClock(timeMs: number): string {
  clock ??= new Intl.DateTimeFormat(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    hourCycle: "h23",
  });
  return clock.format(timeMs);
}

/** The time of the day in the zone of the reader, to the second. */
export function formatTimeOfDay(timeMs: number): string {
  timeOfDay ??= new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
  return timeOfDay.format(timeMs);
}
