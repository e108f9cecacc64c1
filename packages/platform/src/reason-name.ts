import type { ErrorReason } from "@reeve/contracts/error";
import { ErrorReasonSchema } from "@reeve/contracts/error";

/** What the names of reasons begin with in the contract. */
export const reasonPrefix = "ERROR_REASON_";

/** Returns the name of a reason as errors carry it, such as `MODEL_NOT_FOUND`. */
export function reasonName(reason: ErrorReason): string {
  return (ErrorReasonSchema.value[reason]?.name ?? "").replace(reasonPrefix, "");
}
