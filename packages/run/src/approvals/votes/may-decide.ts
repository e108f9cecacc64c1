import type { Alternative, Decision, StepUp } from "@reeve/contracts/approval";
import type { Failure } from "@reeve/platform/failure";

/** How a person confirmed exactly the decision of a request with a passkey, or why the confirmation is refused. */
export type Confirmation =
  | { readonly stepUp: StepUp; readonly refusal?: undefined }
  | { readonly refusal: Failure };

/** A person who decides, with the groups of the credential. */
export interface Decider {
  readonly tenant: string;
  readonly subject: string;
  /** Also has `role:NAME` for each role. Default: none. */
  readonly groups?: ReadonlySet<string>;
  /** A requester may only answer what the agent asks with `ask_user`. Default: `approver`. */
  readonly as?: "approver" | "requester";
  /** How the person confirmed exactly the decision of the request with a passkey. Default: there is no confirmation. */
  readonly confirmation?: Confirmation | undefined;
}

/** The group of everyone who may decide on approvals. */
const approvers = "role:approver";

/** Whether a person has the role that every decision needs. */
export function isApprover({ groups }: Decider): boolean {
  return groups?.has(approvers) ?? false;
}

/** Whether a decision is that of a person. */
export function isOfPerson(decision: Decision | undefined, subject: string): boolean {
  return decision?.decidedBy === subject && decision.reviewer === undefined;
}

/** Whether an alternative names a person, or names nobody, so that everyone with the role APPROVER may decide. */
export function isDecider(
  { people, groups }: Pick<Alternative, "people" | "groups">,
  decider: Decider,
): boolean {
  if (people.length === 0 && groups.length === 0) return true;
  return (
    people.includes(decider.subject) || groups.some((group) => decider.groups?.has(group) ?? false)
  );
}
