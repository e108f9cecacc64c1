import type { Alternative, Approval, StepUp } from "@reeve/contracts/approval";

/** A person who decides, with the groups of the credential. */
export interface Decider {
  readonly tenant: string;
  readonly subject: string;
  /** Also has `role:NAME` for each role. Default: none. */
  readonly groups?: ReadonlySet<string>;
  /** A requester may only answer what the agent asks with `ask_user`. Default: `approver`. */
  readonly as?: "approver" | "requester";
  /**
   * Returns how the person confirmed exactly the decision of the request with a passkey, or throws the Failure of the confirmation.
   * Default: there is none.
   */
  readonly confirmation?: (() => StepUp) | undefined;
}

/** Whether an approval waits for this person: who may decide it, and has not voted. Says nothing about waits and freezes. */
export function waitsFor(
  { alternatives, excludedSubjects, votes }: Approval,
  decider: Decider,
): boolean {
  const { subject } = decider;
  if (excludedSubjects.includes(subject)) return false;
  if (votes.some(({ decision }) => decision?.decidedBy === subject)) return false;
  return alternatives.length === 0 || alternatives.some((each) => isDecider(each, decider));
}

/** Whether an alternative names a person, or names nobody, so that everyone with the role APPROVER may decide. */
export function isDecider({ people, groups }: Alternative, decider: Decider): boolean {
  if (people.length === 0 && groups.length === 0) return true;
  return (
    people.includes(decider.subject) || groups.some((group) => decider.groups?.has(group) ?? false)
  );
}
