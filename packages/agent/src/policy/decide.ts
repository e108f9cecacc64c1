import { Role } from "@reeve/contracts/access/role";
import { includesEntry, overlapsEntry } from "../spec/network-entry.ts";
import type { NamePattern } from "../tools/name-pattern.ts";
import type {
  NamedKind,
  PolicyCaller,
  PolicyItem,
  PolicyLists,
  PolicyRule,
  Withheld,
} from "./policy.ts";

/** Returns whether all conditions of a rule match a caller whose roles are known. */
export function matchesCaller(
  { tenants, roles, contexts, threads }: PolicyRule,
  caller: PolicyCaller & { readonly roles: ReadonlySet<Role> },
): boolean {
  if (tenants !== undefined && !tenants.some((pattern) => pattern.matches(caller.tenant)))
    return false;
  if (contexts !== undefined && !contexts.has(caller.context)) return false;
  if (threads !== undefined && !matchesThread(threads, caller.threadId)) return false;
  return roles === undefined || [...roles].some((role) => hasRole(caller.roles, role));
}

function matchesThread(threads: readonly NamePattern[], threadId: string): boolean {
  return threadId !== "" && threads.some((pattern) => pattern.matches(threadId));
}

/** Every role includes VIEWER. */
function hasRole(roles: ReadonlySet<Role>, role: Role): boolean {
  return role === Role.VIEWER ? roles.size > 0 : roles.has(role);
}

/**
 * Decides on one thing by the rules that match a caller: a rule that denies it wins; if any rule has a list of what it allows of
 * this kind, one of these lists must have it. Returns undefined if it is allowed.
 */
export function decide(
  rules: readonly PolicyRule[],
  item: PolicyItem,
  matches: RuleMatches = matchRules(item),
): Withheld | undefined {
  const denying = rules.find(matches.denies);
  if (denying !== undefined) {
    return withheld(item, denying.name, `the rule "${denying.name}" of the operator's policy`);
  }
  const allowing = rules.filter(({ allow }) => allow[item.kind] !== undefined);
  if (allowing.length === 0 || allowing.some(matches.allows)) return undefined;
  const names = listed(allowing.map(({ name }) => name));
  return withheld(item, names, `the operator's policy, which allows only what ${names} lists,`);
}

/** Which rules deny or allow one thing. */
export interface RuleMatches {
  denies(rule: PolicyRule): boolean;
  allows(rule: PolicyRule): boolean;
}

function matchRules(item: PolicyItem): RuleMatches {
  return {
    denies: ({ deny }) => isDenied(deny, item),
    allows: ({ allow }) => isAllowed(allow, item),
  };
}

/** Matches each rule with the patterns of a thing at most once, however many sets of rules are decided on. */
export function matchRulesOnce(item: PolicyItem): RuleMatches {
  const { denies, allows } = matchRules(item);
  return { denies: remembered(denies), allows: remembered(allows) };
}

function remembered(matches: (rule: PolicyRule) => boolean): (rule: PolicyRule) => boolean {
  const known = new Map<PolicyRule, boolean>();
  return (rule) => {
    const before = known.get(rule);
    if (before !== undefined) return before;
    const found = matches(rule);
    known.set(rule, found);
    return found;
  };
}

function withheld(item: PolicyItem, rule: string, by: string): Withheld {
  const name = item.kind === "network_hosts" ? item.entry.text : (item.names[0] ?? "");
  return { kind: item.kind, name, rule, reason: `${by} withholds the ${nouns[item.kind]} ${name}` };
}

const nouns: Readonly<Record<PolicyItem["kind"], string>> = {
  tool_classes: "class",
  tools: "tool",
  mcp_servers: "MCP server",
  providers: "provider",
  models: "model",
  images: "image",
  pools: "pool",
  network_hosts: "host",
};

function isDenied(deny: PolicyLists, item: PolicyItem): boolean {
  if (item.kind === "network_hosts") {
    // A part of a request cannot be taken out of it.
    return (deny.network_hosts ?? []).some((entry) => overlapsEntry(entry, item.entry));
  }
  return matchesName(deny, item.kind, [...item.names, ...(item.aliases ?? [])]);
}

function isAllowed(allow: PolicyLists, item: PolicyItem): boolean {
  if (item.kind === "network_hosts") {
    return (allow.network_hosts ?? []).some((entry) => includesEntry(entry, item.entry));
  }
  return matchesName(allow, item.kind, item.names);
}

function matchesName(lists: PolicyLists, kind: NamedKind, names: readonly string[]): boolean {
  return (lists[kind] ?? []).some((pattern) => names.some((name) => pattern.matches(name)));
}

/** How many rules a message names. */
const maxListed = 5;

function listed(names: readonly string[]): string {
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
  return `${names.slice(0, maxListed).join(", ")}${more}`;
}
