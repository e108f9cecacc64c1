import { createHash } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";
import { canonicalJson } from "./canonical-json.ts";

/** Returns SHA-256 over the canonical text of a JSON value. */
export function jsonDigest(value: JsonValue): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(canonicalJson(value)).digest());
}
