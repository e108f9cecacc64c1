import { IncompleteReason } from "@reeve/contracts/run";

/** Returns why an answer with this finish reason is incomplete. */
export function incompleteReasonOf(finishReason: string): IncompleteReason {
  switch (finishReason) {
    case "length":
      return IncompleteReason.TRUNCATED;
    case "content_filter":
    case "refusal":
      return IncompleteReason.FILTERED;
    default:
      return IncompleteReason.UNSPECIFIED;
  }
}

/** Returns the name of a reason for people and programs; empty for a complete answer. */
export function incompleteName(reason: IncompleteReason): string {
  switch (reason) {
    case IncompleteReason.TRUNCATED:
      return "truncated";
    case IncompleteReason.FILTERED:
      return "filtered";
    case IncompleteReason.UNSPECIFIED:
      return "";
  }
  return "incomplete";
}
