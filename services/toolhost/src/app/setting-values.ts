import type { Duration, ListValue } from "@bufbuild/protobuf/wkt";
import { durationMs } from "@bufbuild/protobuf/wkt";

/** The strings of a list, or `defaults` when it is absent. */
export function listOr(
  list: ListValue | undefined,
  defaults: readonly string[],
): readonly string[] {
  if (list === undefined) return defaults;
  return list.values.flatMap(({ kind }) => (kind.case === "stringValue" ? [kind.value] : []));
}

/** A duration in milliseconds, or 30 s when it is absent. */
export function timeLimitMs(duration: Duration | undefined): number {
  return duration === undefined ? 30_000 : durationMs(duration);
}
