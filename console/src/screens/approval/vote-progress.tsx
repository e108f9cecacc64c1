import type { Approval } from "@reeve/contracts/approval";

interface VoteProgressProps {
  readonly approval: Pick<Approval, "alternatives" | "excludedSubjects">;
}

/** Who may decide, and how far the votes are. Nothing if any one person may decide. */
export function VoteProgress({ approval }: VoteProgressProps) {
  const { alternatives, excludedSubjects } = approval;
  if (alternatives.length === 0 && excludedSubjects.length === 0) return null;
  return (
    <ul className="votes" aria-label="Who decides">
      {alternatives.map(({ name, people, groups, ...counts }) => {
        const members = [...people, ...groups.map((group) => `group ${group}`)];
        return (
          <li key={name}>
            {counts.approvalsGiven} of {counts.approvals} approved, {counts.denialsGiven} of{" "}
            {counts.denials} rejected: {members.join(", ") || "anyone who may approve"}
          </li>
        );
      })}
      {excludedSubjects.length > 0 && <li>not {excludedSubjects.join(", ")}</li>}
    </ul>
  );
}
