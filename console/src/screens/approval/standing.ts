import type { Approval } from "@reeve/contracts/approval";
import { CallerStandingKind } from "@reeve/contracts/approval";

/** Whether an approval waits for this person, as far as it is known: the server checks each decision. */
export function isMine({ callerStanding }: Pick<Approval, "callerStanding">): boolean {
  return callerStanding === undefined || callerStanding.kind === CallerStandingKind.MAY_DECIDE;
}

/** Whether this person has voted, and others have to. */
export function hasVoted({ callerStanding }: Pick<Approval, "callerStanding">): boolean {
  return callerStanding?.kind === CallerStandingKind.VOTED;
}

/** Names a group of people, or everyone with a role. */
export function nameOfGroup(group: string): string {
  return group.startsWith("role:")
    ? `anyone with the role ${group.slice("role:".length)}`
    : `group ${group}`;
}

/** Names the people who an alternative lets decide. */
export function namesOf({
  people,
  groups,
}: Pick<Approval["alternatives"][number], "people" | "groups">): string {
  return [...people, ...groups.map(nameOfGroup)].join(", ") || nameOfGroup("role:approver");
}

/** Names those for whom an approval waits, without those who may not vote or have voted. */
export function whoDecides({
  alternatives,
  excludedSubjects,
  votes,
}: Pick<Approval, "alternatives" | "excludedSubjects" | "votes">): string {
  const ways = [...new Set(alternatives.map(namesOf))];
  const voters = votes.flatMap(({ decision }) => decision?.decidedBy ?? []);
  const named = alternatives.flatMap(({ people }) => people);
  const isOpen =
    alternatives.length === 0 ||
    alternatives.some(({ people, groups }) => groups.length > 0 || people.length === 0);
  const others = [...new Set([...excludedSubjects, ...voters])].filter(
    (subject) => isOpen || named.includes(subject),
  );
  const but = others.length === 0 ? "" : `, but not ${others.join(" or ")}`;
  return `${ways.join(", or ") || nameOfGroup("role:approver")}${but}`;
}
