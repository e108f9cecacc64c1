import type { AgentSpec, Limits, ModelCatalog } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { PolicyDecision } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { ResolvedModel } from "../resolve/resolve-model.ts";
import { limitsFor, limitValues } from "../spec/limits.ts";
import { parseNetworkEntry } from "../spec/network-entry.ts";
import { nameOfClass } from "../tools/permission-classes.ts";
import type { CallerPolicy } from "./caller-policy.ts";
import { withheldHost, withheldModel } from "./caller-policy.ts";
import type { Withheld } from "./policy.ts";
import { namedItem } from "./policy-items.ts";
import { loweredMaxima } from "./policy-limits.ts";

/** What the policy leaves of a list, what it withholds, and warnings that say so. */
export interface Permitted<Item> {
  readonly permitted: readonly Item[];
  readonly withheld: readonly Withheld[];
  readonly warnings: readonly string[];
}

/** Throws a Failure with reason POLICY_DENIED if the policy withholds a model that a run cannot do without. */
export function assertModelAllowed(
  policy: CallerPolicy,
  field: string,
  { model }: ResolvedModel,
  { models }: ModelCatalog,
): void {
  const withheld = withheldModel(policy, model, models);
  if (withheld === undefined) return;
  const description = `${withheld.reason}; choose another model, or ask the operator`;
  throw new Failure("denied", ErrorReason.POLICY_DENIED, `${field}: ${description}`, {
    violations: [{ field, description, reason: "POLICY_DENIED" }],
    metadata: { rule: withheld.rule, kind: withheld.kind, name: withheld.name },
  });
}

/** Returns the fallback models that the policy does not withhold. */
export function permittedFallbacks(
  policy: CallerPolicy,
  fallbacks: readonly ResolvedModel[],
  { models }: ModelCatalog,
): Permitted<ResolvedModel> {
  return permitted(fallbacks, "fallback_models", ({ model }) =>
    withheldModel(policy, model, models),
  );
}

/** Returns the destinations of an agent that the policy does not withhold. */
export function permittedHosts(policy: CallerPolicy, spec: AgentSpec): Permitted<string> {
  const hosts = spec.deepAgent?.network?.allow ?? [];
  return permitted(hosts, "deep_agent.network.allow", (text) => withheldDestination(policy, text));
}

/**
 * Returns the credentials for hosts that an agent may use: all that its spec names, or none if the spec or the policy does not give
 * it the class of secrets.
 */
export function permittedCredentials(
  policy: CallerPolicy,
  { deepAgent, permissionClasses }: AgentSpec,
): Permitted<string> {
  const named = deepAgent?.network?.credentials ?? [];
  if (named.length === 0) return { permitted: [], withheld: [], warnings: [] };
  const none = `${credentialsField}: code and commands use none of them`;
  // A gateway of a version that does not know credentials stores them unchecked.
  if (!permissionClasses.includes(secretsClass)) {
    const missing = `permission_classes does not name the class ${secretsClass}`;
    return { permitted: [], withheld: [], warnings: [`${none}: ${missing}`] };
  }
  const withheld = policy.withheld(namedItem("tool_classes", secretsClass));
  return withheld === undefined
    ? { permitted: named, withheld: [], warnings: [] }
    : { permitted: [], withheld: [withheld], warnings: [`${none}: ${withheld.reason}`] };
}

/** Whether the policy withheld the credentials for hosts when a run was prepared. */
export function wereCredentialsWithheld(decision: PolicyDecision | undefined): boolean {
  return (decision?.withheld ?? []).some(
    // With a tool, it is the tool that was withheld because of its class.
    ({ kind, name, tool }) => kind === "tool_classes" && name === secretsClass && tool === "",
  );
}

const credentialsField = "deep_agent.network.credentials";
const secretsClass = nameOfClass(PermissionClass.SECRETS);

/** Returns why the policy withholds a destination, as a spec writes it. */
export function withheldDestination(policy: CallerPolicy, text: string): Withheld | undefined {
  const entry = parseNetworkEntry(text, "agent");
  // The check of the spec refuses what is not a destination, and so does the toolhost.
  return entry && withheldHost(policy, entry);
}

/** Returns the limits for a run of the agent, bounded by those of the deployment and of the policy. */
export function lowered(
  spec: AgentSpec,
  maxima: Limits | undefined,
  policy: CallerPolicy,
): { readonly limits: Limits; readonly warnings: readonly string[] } {
  const warnings = [...limitValues(limitsFor(spec, undefined))].flatMap(([field, value]) => {
    const bound = policy.limits.get(field);
    if (bound === undefined || value <= bound.max) return [];
    return [
      `policy: ${field} is lowered from ${shown(field, value)} to ${shown(field, bound.max)} by the rule "${bound.rule}" of the operator's policy`,
    ];
  });
  return { limits: limitsFor(spec, loweredMaxima(maxima, policy.limits)), warnings };
}

function shown(field: string, value: number): string {
  return field === "budgets.max_wall_clock" ? `${value / 1000}s` : String(value);
}

function permitted<Item>(
  items: readonly Item[],
  field: string,
  withheldBy: (item: Item) => Withheld | undefined,
): Permitted<Item> {
  const kept: Item[] = [];
  const withheld: Withheld[] = [];
  for (const item of items) {
    const found = withheldBy(item);
    if (found === undefined) kept.push(item);
    else withheld.push(found);
  }
  return {
    permitted: kept,
    withheld,
    warnings: withheld.map(({ reason }) => `${field}: ${reason}`),
  };
}
