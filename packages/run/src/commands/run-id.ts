import { createHash } from "node:crypto";

/**
 * Returns the run id that belongs to a request id of a tenant, so that a repeated request starts no second run: 130 bits of a
 * digest in lower-case base32, which is valid in a NATS subject.
 */
export function runIdOf(tenant: string, requestId: string): string {
  const digest = createHash("sha256").update(`${tenant}\n${requestId}`).digest();
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  let id = "";
  let bits = 0;
  let held = 0;
  for (const byte of digest) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5 && id.length < 26) {
      bits -= 5;
      id += alphabet[(held >> bits) & 31] ?? "";
    }
    held &= (1 << bits) - 1;
  }
  return `run_${id}`;
}

/** Returns the id of the run that continues a run that failed: a run is continued at most once. */
export function retryIdOf(tenant: string, runId: string): string {
  return runIdOf(tenant, retryRequestId(runId));
}

/** Returns the request id of the run that continues a run. */
export function retryRequestId(runId: string): string {
  return `retry:${runId}`;
}
