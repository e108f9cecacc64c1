/** A part of the time of a run, and its place on the timeline. */
export interface TimeSegment {
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1. */
  readonly from: number;
  readonly to: number;
  /** Whether nothing was done: it is drawn shorter than it was. */
  readonly isIdle: boolean;
}

export interface TimeScale {
  readonly segments: readonly TimeSegment[];
  /** Returns the place of a time, from 0 to 1. */
  place(timeMs: number): number;
}

interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** The share of the timeline that an idle part has. */
const idleShare = 0.05;

/**
 * Returns a scale on which time without work takes little room, so that a run which waited for a day shows its work. Idle parts
 * shorter than a twentieth of the work keep their length.
 */
export function timeScale(work: readonly Interval[], startMs: number, endMs: number): TimeScale {
  const parts = partsOf(work, startMs, Math.max(endMs, startMs + 1));
  const busyMs = parts.reduce((sum, part) => sum + (part.isIdle ? 0 : lengthOf(part)), 0) || 1;
  const weights = parts.map((part) =>
    part.isIdle ? Math.min(lengthOf(part) / busyMs, idleShare) : lengthOf(part) / busyMs,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  let from = 0;
  const segments = parts.map((part, index) => {
    const to = from + (weights[index] ?? 0) / total;
    const segment = { ...part, from, to };
    from = to;
    return segment;
  });
  return { segments, place: (timeMs) => placeIn(segments, timeMs) };
}

function placeIn(segments: readonly TimeSegment[], timeMs: number): number {
  const segment = segments.find(({ endMs }) => timeMs <= endMs) ?? segments.at(-1);
  if (segment === undefined) return 0;
  const { startMs, endMs, from, to } = segment;
  const share = endMs === startMs ? 0 : (timeMs - startMs) / (endMs - startMs);
  return from + (to - from) * Math.min(1, Math.max(0, share));
}

type Part = Interval & { readonly isIdle: boolean };

/** Returns the parts between two times: with work, and without. */
function partsOf(work: readonly Interval[], startMs: number, endMs: number): readonly Part[] {
  const parts: Part[] = [];
  let at = startMs;
  for (const each of merged(work)) {
    if (each.startMs > at) parts.push({ startMs: at, endMs: each.startMs, isIdle: true });
    parts.push({ startMs: Math.max(at, each.startMs), endMs: each.endMs, isIdle: false });
    at = Math.max(at, each.endMs);
  }
  if (at < endMs) parts.push({ startMs: at, endMs, isIdle: true });
  return parts.filter((part) => lengthOf(part) > 0);
}

function merged(work: readonly Interval[]): readonly Interval[] {
  const result: Interval[] = [];
  for (const each of work.toSorted((one, other) => one.startMs - other.startMs)) {
    const last = result.at(-1);
    if (last === undefined || each.startMs > last.endMs) result.push(each);
    else result[result.length - 1] = { ...last, endMs: Math.max(last.endMs, each.endMs) };
  }
  return result;
}

function lengthOf({ startMs, endMs }: Interval): number {
  return endMs - startMs;
}
