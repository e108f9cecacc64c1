import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";

/**
 * Several results may come to stand in one message, beside their texts. A record takes up to six times the bytes of its
 * JSON there.
 */
const maxBytes = 32_768;
/** Readers of messages follow a hundred levels; one of a record takes three of them, and a record lies in others. */
const maxLevels = 20;
/** Beyond this even its JSON cannot be made. */
const maxJsonLevels = 1_000;

/** Whether a record may stand in a message as it is, when it may have `most` bytes of JSON. */
export function fitsMessage(record: JsonObject, most: number): boolean {
  if (isDeeper(record, maxLevels)) return false;
  // JSON is measured first: it is the cheaper one, and what is large is large in it too.
  if (Buffer.byteLength(JSON.stringify(record)) > Math.min(most, maxBytes)) return false;
  return toBinary(StructSchema, fromJson(StructSchema, record)).length <= maxBytes;
}

/** Whether there is a JSON text of a record. */
export function hasJson(record: JsonObject): boolean {
  return !isDeeper(record, maxJsonLevels);
}

/** Goes level by level: a record may be nested more deeply than we may call ourselves. */
function isDeeper(record: JsonObject, most: number): boolean {
  let level: readonly JsonValue[] = [record];
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap(partsOf);
    if (level.length === 0) return false;
  }
  return true;
}

function partsOf(value: JsonValue): readonly JsonValue[] {
  const parts = Array.isArray(value) ? value : Object.values(value ?? {});
  return parts.filter((part) => typeof part === "object" && part !== null);
}
