import { createHash } from "node:crypto";

/** Returns the run id that belongs to a request id of a tenant, so that a repeated request starts no second run. */
export function runIdOf(tenant: string, requestId: string): string {
  return idOf(`${tenant}\n${requestId}`);
}

/**
 * Returns the id of the run that continues a run that failed: a run is continued at most once. No request id has this run id,
 * because the name of a tenant is not empty.
 */
export function retryIdOf(tenant: string, runId: string): string {
  return idOf(`\nretry\n${tenant}\n${runId}`);
}

/**
 * Returns the id of the run of a firing of a trigger. No request of a client has this run id, because the name of a tenant is not
 * empty: nobody can start the run of a firing before the trigger does.
 */
export function firingRunIdOf(tenant: string, requestId: string): string {
  return idOf(`\ntrigger\n${tenant}\n${requestId}`);
}

/** Returns 130 bits of the digest of a text in lower-case base32, which is valid in a NATS subject. */
function idOf(text: string): string {
  const digest = createHash("sha256").update(text).digest();
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
