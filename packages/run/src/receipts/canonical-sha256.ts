import type { JsonValue } from "@bufbuild/protobuf";
import { jsonDigest } from "@reeve/contracts/digest/json-digest";

/** Returns SHA-256 over the canonical text of a JSON value, in hexadecimal. */
export function canonicalSha256(value: JsonValue): string {
  return Buffer.from(jsonDigest(value)).toString("hex");
}
