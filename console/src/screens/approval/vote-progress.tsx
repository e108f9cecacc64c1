import type { Approval } from "@reeve/contracts/approval";

interface VoteProgressProps {
  readonly approval: Pick<Approval, "alternatives" | "excludedSubjects" | "unseenGroups">;
}

/** Who may decide, and how far the votes are. Nothing if any one person may decide. */
export function VoteProgress({ approval }: VoteProgressProps) {
  const { alternatives, excludedSubjects, unseenGroups } = approval;
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
      {unseenGroups.length > 0 && (
        <li role="alert">
          it seems that nobody can decide: nobody of{" "}
          {unseenGroups.map((group) => `group ${group}`).join(", ")} has used the inbox for seven
          days
        </li>
      )}
    </ul>
  );
}
