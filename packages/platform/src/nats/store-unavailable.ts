import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** Returns the Failure for a store that does not answer. */
export function storeUnavailable(cause?: unknown): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "the store does not answer; try again in a few seconds",
    { cause },
  );
}
