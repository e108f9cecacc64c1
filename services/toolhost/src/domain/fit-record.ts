import type { JsonObject } from "@bufbuild/protobuf";
import { cutToBytes } from "@reeve/agent/cut-to-bytes";

/** The most bytes of a result that a model reads. */
export const mostContentBytes = 50_000;

const smallest = 64;

/** `record` with its long strings cut so far that its JSON text has at most 50,000 bytes and is still JSON. */
export function fitRecord(record: JsonObject): JsonObject {
  let fitting = record;
  for (let most = mostContentBytes; bytesOf(fitting) > mostContentBytes; most = most * 0.7) {
    fitting = cutStrings(record, Math.max(Math.floor(most), smallest));
  }
  return fitting;
}

function bytesOf(record: JsonObject): number {
  return new TextEncoder().encode(JSON.stringify(record)).length;
}

function cutStrings(record: JsonObject, most: number): JsonObject {
  const cut = (value: JsonObject[string]) =>
    typeof value === "string" ? cutToBytes(value, most) : value;
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, cut(value ?? null)]),
  );
}
