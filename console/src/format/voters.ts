import type { Approval } from "@reeve/contracts/approval";

/** Names everyone whose vote decided alike, in the order of the votes. Empty: nobody has decided. */
export function votersOf({ decision, votes }: Pick<Approval, "decision" | "votes">): string {
  if (decision === undefined) return "";
  const alike = votes.flatMap((vote) =>
    vote.decision?.approved === decision.approved ? vote.decision.decidedBy : [],
  );
  return [...new Set([...alike, decision.decidedBy])].filter((name) => name !== "").join(", ");
}
