import type { TimeZone } from "./time-zone.ts";

/** When a freeze applies: once, or every week. It begins at its start, and has ended at its end. */
export type Period =
  | { readonly kind: "once"; readonly fromMs: number; readonly untilMs: number }
  | {
      readonly kind: "weekly";
      readonly zone: TimeZone;
      readonly windows: readonly WeeklyWindow[];
    };

/** A part of some days of the week, in minutes since midnight. */
export interface WeeklyWindow {
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  readonly fromMinute: number;
  /** At most 1,440, which is the next midnight. */
  readonly untilMinute: number;
}

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
/** 1970-01-01 was a Thursday. */
const firstWeekday = 4;

/** Returns when the part of a period ends that includes an instant, or undefined if none does. */
export function endOfPeriod(period: Period, instantMs: number): number | undefined {
  if (period.kind === "once") {
    const { fromMs, untilMs } = period;
    return fromMs <= instantMs && instantMs < untilMs ? untilMs : undefined;
  }
  const { zone, windows } = period;
  const today = Math.floor(zone.localMs(instantMs) / dayMs);
  const ends = [today - 1, today, today + 1].flatMap((day) =>
    windows
      .filter(({ days }) => days.has((((day + firstWeekday) % 7) + 7) % 7))
      .flatMap(({ fromMinute, untilMinute }) => {
        const until = zone.instantMs(day * dayMs + untilMinute * minuteMs);
        const isInside =
          instantMs < until && zone.instantMs(day * dayMs + fromMinute * minuteMs) <= instantMs;
        return isInside ? [until] : [];
      }),
  );
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/** Whether weekly windows leave no minute of the week. */
export function coverWeek(windows: readonly WeeklyWindow[]): boolean {
  return [0, 1, 2, 3, 4, 5, 6].every((day) => {
    const ofDay = windows
      .filter(({ days }) => days.has(day))
      .toSorted((a, b) => a.fromMinute - b.fromMinute);
    const covered = ofDay.reduce(
      (until, { fromMinute, untilMinute }) =>
        fromMinute <= until ? Math.max(until, untilMinute) : until,
      0,
    );
    return covered >= 1_440;
  });
}
