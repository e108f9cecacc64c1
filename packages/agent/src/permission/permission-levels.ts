import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { PolicyPermission, RunPrepared } from "@reeve/contracts/run";
import { PolicyPermissionSchema } from "@reeve/contracts/run";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { sectionOf } from "../plugins/section-violations.ts";
import { parseRule } from "./parse-rule.ts";
import type { CallPattern } from "./permission-rule.ts";
import type { PermissionSection } from "./permission-schema.ts";
import { permissionSchema } from "./permission-schema.ts";

/** Rules that are evaluated together: those of an agent, or those of the operator's policy for a run. */
export interface PermissionLevel {
  readonly source: "agent" | "policy";
  /** Id of the agent that has the rules, if several agents' rules decide about a call. */
  readonly agentId?: string;
  /** What is decided about calls of toolhosts' tools that no rule matches. Undefined: nothing. */
  readonly defaultBehavior: LevelDefault | undefined;
  readonly rules: readonly LevelRule[];
}

interface LevelDefault {
  readonly behavior: PermissionBehavior;
  readonly policyRule: string;
}

export interface LevelRule {
  /** The rule as it was written. */
  readonly text: string;
  readonly pattern: CallPattern;
  readonly behavior: PermissionBehavior;
  /** Name of the rule of the operator's policy that contains it; empty at an agent. */
  readonly policyRule: string;
}

/** The section of an agent spec that has its permission rules. */
export const permissionSectionName = "permission";

const ofSections = new WeakMap<object, PermissionLevel>();

/**
 * Returns the rules of an agent. Undefined: it has none. Rules that this version cannot read deny every call: a run with them
 * is not prepared, so that only a run of a newer version has them.
 */
export function agentLevel(
  spec: Pick<AgentSpec, "sections"> | undefined,
): PermissionLevel | undefined {
  const value = spec?.sections[permissionSectionName];
  if (spec === undefined || value === undefined) return undefined;
  const known = ofSections.get(value);
  if (known !== undefined) return known;
  const parsed = permissionSchema.safeParse(sectionOf(spec, permissionSectionName));
  const level: PermissionLevel = parsed.success ? levelOf(parsed.data) : denyingAll("agent", "");
  ofSections.set(value, level);
  return level;
}

function levelOf({ default_behavior, rules }: PermissionSection): PermissionLevel {
  return {
    source: "agent",
    defaultBehavior: { behavior: default_behavior ?? PermissionBehavior.ASK, policyRule: "" },
    rules: rules.map(({ tool, behavior }) => ({ ...tool, behavior, policyRule: "" })),
  };
}

const ofPermissions = new WeakMap<PolicyPermission, readonly (LevelRule | undefined)[]>();

/** Returns the rules of the operator's policy that hold for a run, as one level. Undefined: there are none. */
export function policyLevel(permissions: readonly PolicyPermission[]): PermissionLevel | undefined {
  if (permissions.length === 0) return undefined;
  const rules = permissions.flatMap(rulesOf);
  return rules.every((rule) => rule !== undefined)
    ? { source: "policy", rules, defaultBehavior: strictestDefault(permissions) }
    : denyingAll("policy", permissions[0]?.policyRule ?? "");
}

/** Returns the parsed rules; undefined for each that cannot be read. */
function rulesOf(permission: PolicyPermission): readonly (LevelRule | undefined)[] {
  const known = ofPermissions.get(permission);
  if (known !== undefined) return known;
  const { policyRule, rules } = permission;
  const parsed = rules.map(({ tool: text, behavior }): LevelRule | undefined => {
    const { pattern } = parseRule(text);
    return pattern && { text, pattern, behavior, policyRule };
  });
  ofPermissions.set(permission, parsed);
  return parsed;
}

function strictestDefault(permissions: readonly PolicyPermission[]): LevelDefault | undefined {
  const { DENY, ASK, ALLOW } = PermissionBehavior;
  for (const behavior of [DENY, ASK, ALLOW]) {
    const found = permissions.find(({ defaultBehavior }) => defaultBehavior === behavior);
    if (found !== undefined) return { behavior, policyRule: found.policyRule };
  }
  return undefined;
}

function denyingAll(source: PermissionLevel["source"], policyRule: string): PermissionLevel {
  const { pattern } = parseRule("*");
  const rule = { text: "unreadable rules", behavior: PermissionBehavior.DENY, policyRule };
  return {
    source,
    defaultBehavior: undefined,
    rules: pattern === undefined ? [] : [{ ...rule, pattern }],
  };
}

/** Returns the rules that hold for a run, as its log has them. */
export function levelsOf(
  spec: Pick<AgentSpec, "sections"> | undefined,
  prepared: Pick<RunPrepared, "policy"> | undefined,
): readonly PermissionLevel[] {
  const levels = [agentLevel(spec), policyLevel(prepared?.policy?.permissions ?? [])];
  return levels.filter((level) => level !== undefined);
}

/** Returns the record of the permission rules of a rule of the policy. */
export function policyPermission(policyRule: string, section: PermissionSection): PolicyPermission {
  const { default_behavior, rules } = section;
  return create(PolicyPermissionSchema, {
    policyRule,
    ...(default_behavior !== undefined && { defaultBehavior: default_behavior }),
    rules: rules.map(({ tool: { text }, behavior }) => ({ tool: text, behavior })),
  });
}
