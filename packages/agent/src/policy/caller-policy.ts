import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Role } from "@reeve/contracts/access/role";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { PolicyPermission } from "@reeve/contracts/run";
import { PolicyPermissionSchema } from "@reeve/contracts/run";
import type { PermissionClass, ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { waitMsOf } from "../approval-times/approval-times.ts";
import type { NetworkEntry } from "../spec/network-entry.ts";
import { decide, matchesCaller, matchRulesOnce } from "./decide.ts";
import type { Policy, PolicyCaller, PolicyItem, PolicyRule, RunPlace, Withheld } from "./policy.ts";
import { runContexts } from "./policy.ts";
import { shortestMatch } from "../tools/name-pattern.ts";
import { hostItem, modelItems, toolItems } from "./policy-items.ts";
import type { PolicyLimits } from "./policy-limits.ts";
import { lowestLimits, mildest, strictest } from "./policy-limits.ts";

/** What a policy decides for the runs of one caller. It depends on no agent spec. */
export interface CallerPolicy {
  /** The names of the rules that match, in the order of the policy. */
  readonly rules: readonly string[];
  /** Classes that agents have although their specs do not name them. */
  readonly grants: ReadonlySet<PermissionClass>;
  readonly limits: PolicyLimits;
  /** Permission rules for calls, in the order of the policy. */
  readonly permissions: readonly PolicyPermission[];
  /** Guards of all agents, in the order of the policy. */
  readonly guardrails: readonly PolicyGuardrails[];
  /** Returns how long a call of a tool waits at least for its approval, in milliseconds. Default: it does not wait. */
  readonly waitMs?: (agentId: string, tool: string) => number;
  /** Returns why a thing is withheld, or undefined if it is allowed. */
  withheld(item: PolicyItem): Withheld | undefined;
}

/** The guards of a rule of a policy, in the form of the section `guardrails`. */
export interface PolicyGuardrails {
  readonly policyRule: string;
  readonly section: JsonObject;
}

/** Allows everything that an agent spec may name, and grants nothing. */
export const unrestricted: CallerPolicy = {
  rules: [],
  grants: new Set(),
  limits: new Map(),
  permissions: [],
  guardrails: [],
  withheld: () => undefined,
};

/**
 * Returns why the policy withholds a tool: because of its class, its name, its MCP server, its pool, or an image of the pool.
 * `catalogs` are those of the deployment.
 */
export function withheldTool(
  policy: CallerPolicy,
  tool: ToolDescriptor,
  catalogs: readonly ToolCatalog[],
): Withheld | undefined {
  return firstWithheld(policy, toolItems(tool, catalogs));
}

/** Returns why the policy withholds a model: because of its provider or a name. `models` are those of the deployment. */
export function withheldModel(
  policy: CallerPolicy,
  model: ModelSpec,
  models: readonly ModelSpec[],
): Withheld | undefined {
  return firstWithheld(policy, modelItems(model, models));
}

/** Returns why the policy withholds a destination of the network. */
export function withheldHost(policy: CallerPolicy, entry: NetworkEntry): Withheld | undefined {
  return policy.withheld(hostItem(entry));
}

function firstWithheld(policy: CallerPolicy, items: readonly PolicyItem[]): Withheld | undefined {
  for (const item of items) {
    const found = policy.withheld(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns what a policy decides for a caller. Without known roles: what it decides for callers with any roles, together. */
export function policyFor(policy: Policy | undefined, caller: PolicyCaller): CallerPolicy {
  if (policy === undefined) return unrestricted;
  const { roles } = caller;
  if (roles !== undefined) return ofRules(matching(policy, { ...caller, roles }));
  const candidates = roleSets.map((set) => matching(policy, { ...caller, roles: set }));
  return forAll(distinct(candidates));
}

/**
 * Returns what a policy decides for a tenant: it withholds what it withholds from every caller who may start runs. Of the threads
 * that a rule names by several patterns, it considers one that the first pattern matches.
 */
export function policyForTenant(policy: Policy | undefined, tenant: string): CallerPolicy {
  if (policy === undefined) return unrestricted;
  const candidates = roleSets.flatMap((roles) =>
    placesOf(policy).map((place) => matching(policy, { tenant, roles, ...place })),
  );
  const { approvals } = policy;
  return {
    ...forAny(distinct(candidates)),
    waitMs: (agentId, tool) => waitMsOf(approvals, { tenant, agentId, tool }),
  };
}

/** Returns the places that the rules of a policy distinguish. */
function placesOf({ rules }: Policy): readonly RunPlace[] {
  const named = rules.flatMap(({ threads: [first] = [] }) =>
    first === undefined ? [] : [shortestMatch(first) || unnamedThread],
  );
  const threads = [...new Set([unnamedThread, ...named])];
  return runContexts.flatMap((context) =>
    (context === "plain" ? [""] : threads).map((threadId) => ({ context, threadId })),
  );
}

/** A thread that rules are unlikely to name, except by `*`. */
const unnamedThread = "_";

/** All sets of roles that a caller who starts runs may have. */
const roleSets: readonly ReadonlySet<Role>[] = [Role.APPROVER, Role.AUTHOR, Role.OPERATOR].reduce<
  readonly ReadonlySet<Role>[]
>(
  (sets, role) => [...sets, ...sets.map((set) => new Set([...set, role]))],
  [new Set([Role.RUNNER])],
);

function matching(
  { rules }: Policy,
  caller: PolicyCaller & { readonly roles: ReadonlySet<Role> },
): readonly PolicyRule[] {
  return rules.filter((rule) => matchesCaller(rule, caller));
}

/** Removes repetitions: most policies distinguish few callers. */
function distinct(sets: readonly (readonly PolicyRule[])[]): readonly (readonly PolicyRule[])[] {
  return [
    ...new Map(sets.map((rules) => [rules.map(({ name }) => name).join("\n"), rules])).values(),
  ];
}

function ofRules(rules: readonly PolicyRule[]): CallerPolicy {
  return {
    rules: rules.map(({ name }) => name),
    grants: new Set(rules.flatMap(({ grant }) => [...grant])),
    limits: lowestLimits(rules),
    permissions: rules.flatMap(({ permission }) => permission ?? []),
    guardrails: guardrailsIn(rules),
    withheld: (item) => decide(rules, item),
  };
}

/** Allows what all of the sets of rules allow. */
function forAll(sets: readonly (readonly PolicyRule[])[]): CallerPolicy {
  const all = sets.map(ofRules);
  return {
    rules: ruleNames(all),
    grants: new Set(
      [...(all[0]?.grants ?? [])].filter((each) => all.every(({ grants }) => grants.has(each))),
    ),
    limits: strictest(all.map(({ limits }) => limits)),
    permissions: strictestPermissions(all.map(({ permissions }) => permissions)),
    guardrails: guardrailsIn([...new Set(sets.flat())]),
    withheld: (item) => {
      const matches = matchRulesOnce(item);
      return firstOf(sets, (rules) => decide(rules, item, matches));
    },
  };
}

/** Allows what any of the sets of rules allows. */
function forAny(sets: readonly (readonly PolicyRule[])[]): CallerPolicy {
  const all = sets.map(ofRules);
  return {
    rules: ruleNames(all),
    grants: new Set(all.flatMap(({ grants }) => [...grants])),
    limits: mildest(all.map(({ limits }) => limits)),
    // Which callers a rule is for decides about each call, when it is made.
    permissions: [],
    guardrails: [],
    withheld: (item) => {
      const matches = matchRulesOnce(item);
      const decisions = sets.map((rules) => decide(rules, item, matches));
      return decisions.includes(undefined) ? undefined : decisions[0];
    },
  };
}

/** Of what is not decided for all of the callers, only what denies and asks holds. */
function strictestPermissions(
  all: readonly (readonly PolicyPermission[])[],
): readonly PolicyPermission[] {
  const [first = [], ...others] = all;
  if (others.length === 0) return first;
  const isShared = (permission: PolicyPermission) => all.every((each) => each.includes(permission));
  const { ALLOW, UNSPECIFIED } = PermissionBehavior;
  return [...new Set(all.flat())].map((permission) =>
    isShared(permission)
      ? permission
      : create(PolicyPermissionSchema, {
          policyRule: permission.policyRule,
          defaultBehavior:
            permission.defaultBehavior === ALLOW ? UNSPECIFIED : permission.defaultBehavior,
          rules: permission.rules.filter(({ behavior }) => behavior !== ALLOW),
        }),
  );
}

function guardrailsIn(rules: readonly PolicyRule[]): readonly PolicyGuardrails[] {
  return rules.flatMap(({ name, guardrails }) =>
    guardrails === undefined ? [] : [{ policyRule: name, section: guardrails }],
  );
}

function ruleNames(all: readonly CallerPolicy[]): readonly string[] {
  return [...new Set(all.flatMap(({ rules }) => rules))];
}

function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
