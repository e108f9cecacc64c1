import type { Approval } from "@reeve/contracts/approval";
import { ReviewAdvice } from "@reeve/contracts/approval";

/** What a model advises about a call. It decides nothing, and what it says may be hostile. */
export function ReviewAdviceView({ approval: { review } }: { readonly approval: Approval }) {
  if (review === undefined) return null;
  const { advice, reason, problem, model } = review;
  if (problem !== "") return <p className="muted">No advice of a model: {problem}</p>;
  return (
    <p className="review">
      <strong>
        {model || "A model"} advises: {verbs[advice] ?? "unknown"}.
      </strong>{" "}
      {reason} <span className="muted">It decides nothing.</span>
    </p>
  );
}

const verbs: Readonly<Partial<Record<ReviewAdvice, string>>> = {
  [ReviewAdvice.APPROVE]: "approve",
  [ReviewAdvice.REJECT]: "reject",
  [ReviewAdvice.UNSURE]: "unsure",
};
