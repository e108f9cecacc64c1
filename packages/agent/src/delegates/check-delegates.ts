import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { delegateToolName } from "./delegate-tool.ts";

const maxDelegates = 16;
/** Model providers take no longer names of tools. */
const maxNameLength = 64;

/**
 * Returns a violation for each of `others` with more delegates than a spec may have, or with a delegate that repeats. The cost of a search
 * through them is then bounded.
 */
export function otherDelegateViolations(
  others: readonly Pick<AgentSpec, "delegates">[],
): readonly Violation[] {
  return others.flatMap(({ delegates }, index): readonly Violation[] => {
    const field = `others[${index}].delegates`;
    if (delegates.length > maxDelegates) return [tooManyDelegates(field, delegates.length)];
    if (new Set(delegates).size === delegates.length) return [];
    const description = "names an agent more than once; remove the repetition";
    return [{ field, description, reason: "TOOL_ID_CONFLICT" }];
  });
}

/** Returns what is wrong with the delegates of a spec by itself, without the agents that they name. */
export function checkDelegates({ id, delegates }: AgentSpec): readonly Violation[] {
  if (delegates.length > maxDelegates) {
    return [tooManyDelegates("delegates", delegates.length)];
  }
  return delegates.flatMap((delegate, index) => {
    const problem = problemOf(delegate, id, delegates.slice(0, index));
    if (problem === undefined) return [];
    const [reason, description] = problem;
    return [{ field: `delegates[${index}]`, description, reason }];
  });
}

function problemOf(
  delegate: string,
  own: string,
  earlier: readonly string[],
): readonly [reason: string, description: string] | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(delegate)) {
    return ["MALFORMED", `"${delegate.slice(0, 100)}" is not the id of an agent`];
  }
  if (delegate === own) {
    return ["DELEGATE_CYCLE", `the agent cannot be a delegate of itself; remove it`];
  }
  if (earlier.includes(delegate)) {
    return ["TOOL_ID_CONFLICT", `names agent "${delegate}" a second time; remove it`];
  }
  const { length } = delegateToolName(delegate);
  if (length <= maxNameLength) return undefined;
  const description = `the name of its tool, ${delegateToolName(delegate)}, has ${length} characters, and model providers take ${maxNameLength}; give the agent a shorter id`;
  return ["MALFORMED", description];
}

function tooManyDelegates(field: string, count: number): Violation {
  const description = `has ${count} entries; the limit is ${maxDelegates}`;
  return { field, description, reason: "TOO_MANY_ENTRIES" };
}
