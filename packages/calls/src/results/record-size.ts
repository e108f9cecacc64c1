import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";

/**
 * Several results may share one message, beside their texts. A record takes up to six times the bytes of its JSON there.
 */
const maxMessageBytes = 32_768;
/** Readers of messages follow a hundred levels; each level of a record takes three of them, and a record is nested in others. */
const maxLevels = 20;
/** `JSON.stringify` cannot serialize records that are nested deeper. */
const maxJsonLevels = 1_000;

/** Whether a record fits in a message as it is, with at most `maxBytes` of JSON. */
export function fitsMessage(record: JsonObject, maxBytes: number): boolean {
  if (isDeeper(record, maxLevels)) return false;
  // JSON is measured first: it is cheaper, and a large record is large in it too.
  if (Buffer.byteLength(JSON.stringify(record)) > Math.min(maxBytes, maxMessageBytes)) return false;
  return toBinary(StructSchema, fromJson(StructSchema, record)).length <= maxMessageBytes;
}

/** Whether a record can be written as JSON. */
export function hasJson(record: JsonObject): boolean {
  return !isDeeper(record, maxJsonLevels);
}

/** Goes level by level: a record may be nested deeper than the call stack allows. */
function isDeeper(record: JsonObject, maxDepth: number): boolean {
  let level: readonly JsonValue[] = [record];
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.flatMap(partsOf);
    if (level.length === 0) return false;
  }
  return true;
}

function partsOf(value: JsonValue): readonly JsonValue[] {
  const parts = Array.isArray(value) ? value : Object.values(value ?? {});
  return parts.filter((part) => typeof part === "object" && part !== null);
}
