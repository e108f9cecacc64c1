import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** How long a client is asked to wait before it asks again: another server answers at once, this one when it is back. */
const retryAfterMs = 100;

/** What a request ends with when its server goes away. A stream says in `metadata` from where to go on. */
export function serverDraining(metadata: Readonly<Record<string, string>> = {}): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.DRAINING,
    "the server is going away; ask again, and watch a run from the last sequence that you saw",
    { metadata, retryAfterMs },
  );
}
