import { Cron } from "croner";

/** The times of a cron expression. */
export interface CronTimes {
  /** Returns the first time after `afterMs`, in milliseconds since the epoch. Undefined: there is none. */
  next(afterMs: number): number | undefined;
}

/**
 * Returns the times of a cron expression with five fields in a time zone. If the expression has one minute and one hour, a local time that
 * the clock skips comes right after the change, and one that the clock repeats counts once, at its first occurrence. With a list, a
 * range, a step, or `*` in either field, the former may not count at all, and the latter counts twice. Throws an Error that says what is wrong with either.
 */
export function cronTimes(cron: string, timeZone: string): CronTimes {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new Error(
      `has ${fields.length} fields; write five: minute, hour, day of the month, month, and day of the week, such as \`30 8 * * 1-5\``,
    );
  }
  const zone = timeZone === "" ? "UTC" : timeZone;
  const times = readCron(fields.join(" "), zone);
  return { next: (afterMs) => times.nextRun(new Date(afterMs))?.getTime() };
}

function readCron(expression: string, timezone: string): Cron {
  try {
    return new Cron(expression, { timezone, mode: "5-part", paused: true });
  } catch (error) {
    // The library begins its messages with the name of a class.
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(message.replace(/^Cron\w*: /, ""), { cause: error });
  }
}

/** Whether the machine knows a time zone, such as `Europe/Lisbon`. */
export function isTimeZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name === "" ? "UTC" : name });
    // An offset such as `+01:00` is none: it has no daylight saving time, which its author may expect.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
