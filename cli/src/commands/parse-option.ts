import type { JsonObject } from "@bufbuild/protobuf";
import { InvalidArgumentError } from "commander";
import { parseJsonObject } from "../parse-json-object.ts";

/** Parses a limit: a whole number of at least 1. */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidArgumentError("Use a whole number of at least 1.");
}

/** Parses the sequence of an event: a whole number of at least 0. */
export function parseSequence(text: string): number {
  const sequence = Number(text);
  if (/^\d+$/.test(text) && sequence <= 0xffff_ffff) return sequence;
  throw new InvalidArgumentError("Use the sequence of an event, for example 12.");
}

/** Parses a TCP port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("Use a port from 1 to 65535.");
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a time: ISO 8601 with a zone, or how long ago, such as `90s`, `1h`, or `7d`. */
export function parseTime(text: string): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() - Number(count) * (unitsMs[unit] ?? 0));
  const hasZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
  const time = new Date(hasZone.test(text) ? text : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError(
    "Use a time such as 2030-01-31T00:00:00Z, or how long ago: 90s, 30m, 1h, 7d.",
  );
}

/** Parses a duration such as `90s`, `30m`, `2h`, or `7d`, in seconds. */
export function parseSeconds(text: string): bigint {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = (Number(count ?? 0) * (unitsMs[unit] ?? 0)) / 1_000;
  if (seconds > 0) return BigInt(seconds);
  throw new InvalidArgumentError("Use a duration such as 90s, 30m, 2h, or 7d.");
}

/** Parses a JSON object. */
export function parseObject(text: string): JsonObject {
  const object = parseJsonObject(text);
  if (object !== undefined) return object;
  throw new InvalidArgumentError('Use a JSON object, for example {"dish":"soup"}.');
}

/** Collects the values of a repeatable option. */
export function collectValues(
  value: string,
  before: readonly string[] | undefined,
): readonly string[] {
  return [...(before ?? []), value];
}
