import type { JsonValue } from "@bufbuild/protobuf";

/** Returns how many values JSON has, itself included. */
export function countValues(value: JsonValue): number {
  let count = 0;
  const pending = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    count++;
    if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) pending.push(inner);
    }
  }
  return count;
}
