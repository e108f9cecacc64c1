import type { JsonObject } from "@bufbuild/protobuf";
import { cutToBytes, mostContentBytes } from "./cut-to-bytes.ts";

/**
 * The JSON text of a record of at most 50,000 bytes: its strings are cut, the longest first, so that what is left is still
 * JSON.
 */
export function resultJson(record: JsonObject): string {
  let cut = record;
  for (let most = mostContentBytes; most > 16; most = Math.floor(most * 0.7)) {
    const text = JSON.stringify(cut);
    if (Buffer.byteLength(text) <= mostContentBytes) return text;
    cut = cutStrings(record, most);
  }
  return JSON.stringify({ success: false, note: "the result is too large" });
}

function cutStrings(record: JsonObject, most: number): JsonObject {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      typeof value === "string" ? cutToBytes(value, most) : value,
    ]),
  );
}
