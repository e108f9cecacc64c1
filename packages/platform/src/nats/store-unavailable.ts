import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** The store does not answer. */
export function storeUnavailable(cause?: unknown): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "the store does not answer at the moment; try again in a few seconds",
    { cause },
  );
}
