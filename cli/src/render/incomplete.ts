import { IncompleteReason, IncompleteReasonSchema } from "@reeve/contracts/run";

/** Returns the name of the reason why an answer is incomplete, such as `truncated`; empty for a complete answer. */
export function incompleteName(reason: IncompleteReason): string {
  if (reason === IncompleteReason.UNSPECIFIED) return "";
  return IncompleteReasonSchema.value[reason]?.localName.toLowerCase() ?? "incomplete";
}
