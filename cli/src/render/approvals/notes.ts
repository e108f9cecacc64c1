import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Approval, SimilarDecision } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";

/** Returns who takes care of an approval, and what people said about it, one line each. The text may have control characters. */
export function renderNotes({
  assignment,
  comments,
}: Pick<Approval, "assignment" | "comments">): readonly string[] {
  const assignee = assignment?.assignee ?? "";
  return [
    ...(assignee === "" ? [] : [`${assignee} takes care of it`]),
    ...comments.map(({ commentedBy, text }) => `${commentedBy}: ${text}`),
  ];
}

/** Returns how people decided similar calls before, one line each. The text may have control characters. */
export function renderSimilar(decisions: readonly SimilarDecision[]): readonly string[] {
  return decisions.map((decision) => {
    const { state, decidedBy, reason, decidedAt } = decision;
    const verb = state === ApprovalState.APPROVED ? "approved" : "rejected";
    const what = decision.sameArguments ? "the same call" : "other arguments";
    const how = [
      ...(decision.byGrant ? ["by a grant"] : []),
      ...(decision.editedArguments ? ["edited"] : []),
    ].join(", ");
    const day = decidedAt ? ` on ${timestampDate(decidedAt).toISOString().slice(0, 10)}` : "";
    const end = `${how === "" ? "" : `, ${how}`}${reason === "" ? "" : `: ${reason}`}`;
    return `${verb} by ${decidedBy}${day} (${what})${end}`;
  });
}
