import { createHash } from "node:crypto";

/**
 * Returns the digest of a stored batch of a log, in hexadecimal: SHA-256 over the subject of the log, a zero byte, and the
 * payload exactly as it is stored. The payload names the digest of the batch before it, so the digest covers the log up to
 * this batch.
 */
export function batchDigest(subject: string, payload: Uint8Array): string {
  return createHash("sha256").update(`${subject}\0`).update(payload).digest("hex");
}

/** Returns the bytes of a digest, as the next batch stores it. */
export function digestBytes(digest: string): Uint8Array {
  return new Uint8Array(Buffer.from(digest, "hex"));
}

/** Returns a digest that a batch stores, in hexadecimal. */
export function digestText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
