import type { JsonObject } from "@bufbuild/protobuf";
import { cutToBytes } from "@reeve/agent/cut-to-bytes";

const smallest = 64;

/**
 * `record` with its long strings cut so far that its JSON text has at most `mostBytes` and is still JSON. Undefined: there
 * is too much in it besides.
 */
export function fitRecord(record: JsonObject, mostBytes: number): JsonObject | undefined {
  if (bytesOf(record) <= mostBytes) return record;
  for (let most = mostBytes; most >= smallest; most = Math.floor(most * 0.7)) {
    const fitting = cutStrings(record, most);
    if (bytesOf(fitting) <= mostBytes) return fitting;
  }
  return undefined;
}

function bytesOf(record: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(record));
}

function cutStrings(record: JsonObject, most: number): JsonObject {
  const cut = (value: JsonObject[string]) =>
    typeof value === "string" ? cutToBytes(value, most) : value;
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, cut(value ?? null)]),
  );
}
