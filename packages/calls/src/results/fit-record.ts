import type { JsonObject } from "@bufbuild/protobuf";
import { preview } from "./preview.ts";

const smallest = 64;

/**
 * `record` with its long strings cut so far that its JSON text has at most `maxBytes` and is still JSON; of each, its
 * beginning and its end are left. Undefined: there is too much in it besides.
 */
export function fitRecord(record: JsonObject, maxBytes: number): JsonObject | undefined {
  if (bytesOf(record) <= maxBytes) return record;
  // Cutting and measuring is worth it only when what cannot be cut leaves room: a record may have any number of fields.
  if (bytesOf(cutStrings(record, 0)) > maxBytes) return undefined;
  for (let most = maxBytes; most >= smallest; most = Math.floor(most * 0.7)) {
    const fitting = cutStrings(record, most);
    if (bytesOf(fitting) <= maxBytes) return fitting;
  }
  return undefined;
}

function bytesOf(record: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(record));
}

function cutStrings(record: JsonObject, most: number): JsonObject {
  const cut = (value: JsonObject[string]) => {
    if (typeof value !== "string") return value;
    if (most === 0) return "";
    const size = Buffer.byteLength(value);
    return size > most ? preview(value, `[cut: ${size} bytes in all]`, most) : value;
  };
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, cut(value ?? null)]),
  );
}
