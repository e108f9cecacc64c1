import type { JsonObject } from "@bufbuild/protobuf";
import { preview } from "./preview.ts";

const minStringBytes = 64;

/**
 * Returns `record` with its long strings cut so that its JSON text has at most `maxBytes` and is still valid; each cut string
 * keeps its beginning and its end. Undefined: the rest of the record alone is too large.
 */
export function fitRecord(record: JsonObject, maxBytes: number): JsonObject | undefined {
  if (bytesOf(record) <= maxBytes) return record;
  // A record may have any number of fields: cut and measure only if the parts that cannot be cut leave room.
  if (bytesOf(cutStrings(record, 0)) > maxBytes) return undefined;
  for (let limit = maxBytes; limit >= minStringBytes; limit = Math.floor(limit * 0.7)) {
    const fitting = cutStrings(record, limit);
    if (bytesOf(fitting) <= maxBytes) return fitting;
  }
  return undefined;
}

function bytesOf(record: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(record));
}

function cutStrings(record: JsonObject, limit: number): JsonObject {
  const cut = (value: JsonObject[string]) => {
    if (typeof value !== "string") return value;
    if (limit === 0) return "";
    const size = Buffer.byteLength(value);
    return size > limit ? preview(value, `[cut: ${size} bytes in all]`, limit) : value;
  };
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, cut(value ?? null)]),
  );
}
