import type { Approval } from "@reeve/client";

/** Returns how far the votes on an approval are, one line for each alternative, who may not vote, and whether those who may are missed. */
export function renderProgress({
  alternatives,
  excludedSubjects,
  unseenGroups,
}: Pick<Approval, "alternatives" | "excludedSubjects" | "unseenGroups">): readonly string[] {
  const ways = alternatives.map(({ people, groups, ...counts }) => {
    const members = [...people, ...groups.map((group) => `group ${group}`)];
    const whom = members.length === 0 ? "anyone who may approve" : members.join(", ");
    return `${counts.approvalsGiven} of ${counts.approvals} approved, ${counts.denialsGiven} of ${counts.denials} rejected: ${whom}`;
  });
  const missed =
    unseenGroups.length === 0
      ? []
      : [
          `it seems that nobody can decide: nobody of ${unseenGroups.map((group) => `group ${group}`).join(", ")} has used the inbox for seven days`,
        ];
  const lines = [...ways, ...missed];
  return excludedSubjects.length === 0 ? lines : [...lines, `not ${excludedSubjects.join(", ")}`];
}
