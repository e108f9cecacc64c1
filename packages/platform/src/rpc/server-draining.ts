import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** The delay before a client retries: another server answers at once, this one after its restart. */
const retryAfterMs = 100;

/** Returns the Failure that ends a request of a server that shuts down. A stream puts the place to resume from into `metadata`. */
export function serverDraining(metadata: Readonly<Record<string, string>> = {}): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.DRAINING,
    "the server is shutting down; retry, and resume a watch from the last sequence that you received",
    { metadata, retryAfterMs },
  );
}
