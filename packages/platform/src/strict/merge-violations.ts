import type { Violation } from "../failure.ts";

/**
 * Adds the violations of a message to those of its shape. A value that has the wrong type is not in the message, so what the
 * message lacks in that place is not reported as well.
 */
export function mergeViolations(
  shape: readonly Violation[],
  others: readonly Violation[],
): readonly Violation[] {
  const known = new Set(shape.map(({ field }) => field));
  return [
    ...shape,
    ...others.filter(({ field }) => !within(field).some((path) => known.has(path))),
  ];
}

/** Returns the path of a field, and of all fields that contain it. */
function within(field: string): readonly string[] {
  const ends = [...field.matchAll(/[.[]/g)].map(({ index }) => index);
  return [...ends, field.length].map((end) => field.slice(0, end));
}
