import type { ListValue } from "@bufbuild/protobuf/wkt";

/** Returns the strings of a list that may be absent, and the indexes of values that are not strings. */
export function stringsOf(list: ListValue | undefined): {
  readonly strings: readonly string[];
  readonly others: readonly number[];
} {
  const strings: string[] = [];
  const others: number[] = [];
  for (const [index, { kind }] of (list?.values ?? []).entries()) {
    if (kind.case === "stringValue") strings.push(kind.value);
    else others.push(index);
  }
  return { strings, others };
}
