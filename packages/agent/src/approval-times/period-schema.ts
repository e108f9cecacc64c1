import { z } from "zod";
import { closestName } from "../text/closest-name.ts";
import type { Period, WeeklyWindow } from "./period.ts";
import { coverWeek } from "./period.ts";
import type { TimeZone } from "./time-zone.ts";
import { timeZoneNamed } from "./time-zone.ts";

const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const maxWindows = 50;

const day = z.string().transform((text, context) => {
  const found = dayNames.indexOf(text);
  if (found >= 0) return found;
  const closest = closestName(text, dayNames);
  const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
  context.addIssue(`"${text}" is no day${hint}; there are: ${dayNames.join(", ")}`);
  return z.NEVER;
});

const minutes = z.string('must be a text such as "18:00", in quotes').transform((text, context) => {
  const [, hours = "", rest = ""] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const found = Number(hours) * 60 + Number(rest);
  if (hours !== "" && found <= 1_440) return found;
  context.addIssue(`"${text}" is not a time from 00:00 to 24:00, such as 18:00`);
  return z.NEVER;
});

const window = z
  .strictObject({
    days: z.array(day).min(1, "is empty; name the days").max(7, "has more than 7 days"),
    from: minutes,
    until: minutes,
  })
  .refine(({ from, until }) => from < until, {
    path: ["until"],
    abort: true,
    message:
      "is not after from; a window over midnight is two: one until 24:00, and one from 00:00 of the next day",
  })
  .transform(({ days, from, until }): WeeklyWindow => ({
    days: new Set(days),
    fromMinute: from,
    untilMinute: until,
  }));

const zone = z.string().transform((text, context): TimeZone => {
  const found = timeZoneNamed(text);
  if (found !== undefined) return found;
  context.addIssue(
    `"${text}" is no time zone of the IANA database, such as Europe/Berlin, America/New_York, or UTC`,
  );
  return z.NEVER;
});

/** Weekly windows of a freeze, in the local time of a zone. */
export const weekly = z
  .strictObject({
    time_zone: zone,
    windows: z
      .array(window)
      .min(1, "is empty; add a window")
      .max(maxWindows, `has more than ${maxWindows} windows`),
  })
  .refine(({ windows }) => !coverWeek(windows), {
    path: ["windows"],
    message: "cover the whole week, so that nothing could ever be approved; deny the tools instead",
  });

interface GivenPeriod {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly weekly?: z.infer<typeof weekly> | undefined;
}

type PeriodResult =
  | { readonly period: Period; readonly problem?: undefined }
  | { readonly period?: undefined; readonly problem: Problem };
interface Problem {
  readonly field: keyof GivenPeriod;
  readonly text: string;
}

/** Returns the period of a freeze, or what is wrong with it. */
export function periodOf({ from, until, weekly: windows }: GivenPeriod): PeriodResult {
  if (windows !== undefined) {
    if (from !== undefined || until !== undefined) {
      return problem("weekly", "contradicts from and until; a freeze has one or the other");
    }
    return { period: { kind: "weekly", zone: windows.time_zone, windows: windows.windows } };
  }
  if (from === undefined) return problem("from", "is missing; add from and until, or weekly");
  if (until === undefined) return problem("until", "is missing: a freeze must have an end");
  const [fromMs, untilMs] = [instantOf(from), instantOf(until)];
  if (fromMs === undefined) return problem("from", notInstant(from));
  if (untilMs === undefined) return problem("until", notInstant(until));
  if (untilMs <= fromMs) return problem("until", "is not after from");
  return { period: { kind: "once", fromMs, untilMs } };
}

function problem(field: keyof GivenPeriod, text: string): PeriodResult {
  return { problem: { field, text } };
}

function notInstant(text: string): string {
  return `"${text}" is not a time with its offset from UTC, such as 2026-12-20T00:00:00Z or 2026-12-20T00:00:00+01:00`;
}

/** A time without an offset would depend on the zone of the server. */
function instantOf(text: string): number | undefined {
  return z.iso.datetime({ offset: true }).safeParse(text).success ? Date.parse(text) : undefined;
}
