/** A time zone, whose local times are written as milliseconds as if they were UTC. */
export interface TimeZone {
  readonly name: string;
  /** Returns the local time at an instant. */
  localMs(instantMs: number): number;
  /**
   * Returns the instant of a local time. Of a local time that occurs twice, the first; of one that a clock change skips, the one that
   * is as long after the change as the local time is after the start of what is skipped.
   */
  instantMs(localMs: number): number;
}

/** Returns a zone by its name in the IANA database, or undefined if it is unknown. */
export function timeZoneNamed(name: string): TimeZone | undefined {
  const format = formatFor(name);
  if (format === undefined) return undefined;
  const offsetMs = (instantMs: number) => localOf(format, instantMs) - instantMs;
  return {
    name,
    localMs: (instantMs) => localOf(format, instantMs),
    instantMs: (localMs) => {
      const dayMs = 86_400_000;
      const before = localMs - offsetMs(localMs - dayMs);
      const after = localMs - offsetMs(localMs + dayMs);
      // Before a change, the earlier offset is the right one; a time that does not exist is read with it too.
      const isAfter = localOf(format, before) !== localMs && localOf(format, after) === localMs;
      return isAfter ? after : before;
    },
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat | undefined {
  // Offsets such as +02:00 know no daylight saving time, and are likely a mistake.
  if (!/^[A-Za-z]/.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
}

function localOf(format: Intl.DateTimeFormat, instantMs: number): number {
  const parts: Partial<Record<string, number>> = {};
  for (const { type, value } of format.formatToParts(instantMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const milliseconds = ((instantMs % 1_000) + 1_000) % 1_000;
  return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
}
