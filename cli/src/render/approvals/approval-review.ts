import type { Approval } from "@reeve/client";
import { ReviewAdvice } from "@reeve/contracts/approval";

/** Returns what a model advises about a call, one line; none without a review. The reason may be hostile, and is no decision. */
export function renderReview({ review }: Pick<Approval, "review">): readonly string[] {
  if (review === undefined) return [];
  const { advice, reason, problem, model } = review;
  if (problem !== "") return [`no advice of a model: ${problem}`];
  const verb = verbs[advice] ?? "gives advice that this version does not know";
  return [`advice of ${model || "a model"}, which decides nothing: ${verb}: ${reason}`];
}

const verbs: Readonly<Partial<Record<ReviewAdvice, string>>> = {
  [ReviewAdvice.APPROVE]: "approve",
  [ReviewAdvice.REJECT]: "reject",
  [ReviewAdvice.UNSURE]: "unsure",
};
