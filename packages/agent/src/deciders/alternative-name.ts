import type { DecisionAlternative } from "@reeve/contracts/agent";

/** Returns the name of an alternative at a position of its policy, counted from 0. */
export function alternativeName(
  { name }: Pick<DecisionAlternative, "name">,
  index: number,
): string {
  return name === "" ? String(index + 1) : name;
}

/** Returns the name of the alternative of an escalation at a position of its policy, counted from 0. */
export function escalationName({ name }: Pick<DecisionAlternative, "name">, index: number): string {
  return name === "" ? `escalation-${index + 1}` : name;
}
