import type { Approval } from "@reeve/client";

/** Returns how far the votes on an approval are, one line for each alternative, and who may not vote. */
export function renderProgress({
  alternatives,
  excludedSubjects,
}: Pick<Approval, "alternatives" | "excludedSubjects">): readonly string[] {
  const lines = alternatives.map(({ people, groups, ...counts }) => {
    const members = [...people, ...groups.map((group) => `group ${group}`)];
    const whom = members.length === 0 ? "anyone who may approve" : members.join(", ");
    return `${counts.approvalsGiven} of ${counts.approvals} approved, ${counts.denialsGiven} of ${counts.denials} rejected: ${whom}`;
  });
  return excludedSubjects.length === 0 ? lines : [...lines, `not ${excludedSubjects.join(", ")}`];
}
