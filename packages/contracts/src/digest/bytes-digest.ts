import { createHash } from "node:crypto";

/** Returns the SHA-256 of bytes, in hex. */
export function bytesDigest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
