import type { Limits } from "@reeve/contracts/agent";
import { limitsOfValues, limitValues } from "../spec/limits.ts";
import type { PolicyRule } from "./policy.ts";

/** An upper bound for a limit, and the rule that sets it. */
interface PolicyLimit {
  readonly max: number;
  readonly rule: string;
}

/** The upper bounds of a policy, by the field of the agent spec, such as `budgets.max_cost_usd`. Times are in milliseconds. */
export type PolicyLimits = ReadonlyMap<string, PolicyLimit>;

/** Returns the lowest maximum that any of the rules sets for each limit. */
export function lowestLimits(rules: readonly Pick<PolicyRule, "name" | "limits">[]): PolicyLimits {
  return strictest(
    rules.map(
      ({ name, limits }) =>
        new Map([...limitValues(limits)].map(([field, max]) => [field, { max, rule: name }])),
    ),
  );
}

/** Returns the lower of the maxima for each limit that one of them bounds. */
export function strictest(all: readonly PolicyLimits[]): PolicyLimits {
  const lowest = new Map<string, PolicyLimit>();
  for (const [field, limit] of all.flatMap((each) => [...each])) {
    const known = lowest.get(field);
    if (known === undefined || limit.max < known.max) lowest.set(field, limit);
  }
  return lowest;
}

/** Returns the higher of the maxima for each limit that all of them bound. */
export function mildest([first = new Map(), ...others]: readonly PolicyLimits[]): PolicyLimits {
  const highest = new Map<string, PolicyLimit>();
  for (const [field, limit] of first) {
    const bounds = others.map((other) => other.get(field));
    if (!bounds.every((bound) => bound !== undefined)) continue;
    highest.set(
      field,
      bounds.reduce((a, b) => (b.max > a.max ? b : a), limit),
    );
  }
  return highest;
}

/** Returns the maxima of a deployment, lowered to those of its policy. */
export function loweredMaxima(
  maxima: Limits | undefined,
  policy: PolicyLimits,
): Limits | undefined {
  if (policy.size === 0) return maxima;
  const values = new Map(limitValues(maxima));
  for (const [field, { max }] of policy) values.set(field, Math.min(max, values.get(field) ?? max));
  return limitsOfValues(values);
}
