import { createHash } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";
import { canonicalJson } from "./canonical-json.ts";

/** Returns SHA-256 over the canonical text of a JSON value. */
export function jsonDigest(value: JsonValue): Uint8Array<ArrayBuffer> {
  return canonicalDigest(canonicalJson(value));
}

/** Returns SHA-256 over a text that is canonical JSON already. */
export function canonicalDigest(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
