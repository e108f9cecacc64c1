import type { Limits } from "@reeve/contracts/agent";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Role } from "@reeve/contracts/access/role";
import type { PolicyPermission } from "@reeve/contracts/run";
import type { PermissionClass } from "@reeve/contracts/tool";
import type { ApprovalTimes } from "../approval-times/approval-times.ts";
import type { NetworkEntry } from "../spec/network-entry.ts";
import type { NamePattern } from "../tools/name-pattern.ts";

/** What an operator permits the agents of a deployment, whatever their authors write. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  /** When calls can be approved. Default: at any time. */
  readonly approvals?: ApprovalTimes | undefined;
}

/** The kinds of things that a rule names by patterns. */
export const namedKinds = [
  "tool_classes",
  "tools",
  "mcp_servers",
  "providers",
  "models",
  "images",
  "pools",
] as const;

export type NamedKind = (typeof namedKinds)[number];
export type PolicyKind = NamedKind | "network_hosts";

/** Where a run takes place: `plain` without a thread, `thread` in a thread, `editor` next to an editor. */
export const runContexts = ["plain", "thread", "editor"] as const;
export type RunContext = (typeof runContexts)[number];

/** What a rule allows or denies. An absent list says nothing about its kind. */
export interface PolicyLists extends Partial<Record<NamedKind, readonly NamePattern[]>> {
  readonly network_hosts?: readonly NetworkEntry[];
}

/** A rule for the callers that all of its conditions match. An absent condition matches every caller. */
export interface PolicyRule {
  readonly name: string;
  readonly tenants: readonly NamePattern[] | undefined;
  readonly roles: ReadonlySet<Role> | undefined;
  readonly contexts: ReadonlySet<RunContext> | undefined;
  readonly threads: readonly NamePattern[] | undefined;
  readonly allow: PolicyLists;
  readonly deny: PolicyLists;
  /** Classes that agents have although their specs do not name them. */
  readonly grant: ReadonlySet<PermissionClass>;
  /** Upper bounds for the limits of runs. */
  readonly limits: Limits | undefined;
  /** Permission rules for calls. */
  readonly permission: PolicyPermission | undefined;
  /** Guards of all agents, in the form of the section `guardrails`. */
  readonly guardrails?: JsonObject | undefined;
}

/** Whose run is checked. */
export interface PolicyCaller {
  readonly tenant: string;
  /** Undefined if they are not known: then only what every caller may use is allowed. */
  readonly roles: ReadonlySet<Role> | undefined;
  readonly context: RunContext;
  /** Id of the thread of the run. Empty: it has none. */
  readonly threadId: string;
}

/** Where a run takes place. */
export type RunPlace = Pick<PolicyCaller, "context" | "threadId">;

/**
 * A thing that a policy may withhold. `names` are all names under which a rule may list it; `aliases`, those under which only a
 * rule that denies may.
 */
export type PolicyItem =
  | {
      readonly kind: NamedKind;
      readonly names: readonly string[];
      readonly aliases?: readonly string[];
    }
  | { readonly kind: "network_hosts"; readonly entry: NetworkEntry };

/** A thing that the policy withholds from a caller. */
export interface Withheld {
  readonly kind: PolicyKind;
  readonly name: string;
  /** Name of the rule that denies it, or of the rules whose lists do not have it. */
  readonly rule: string;
  /** Says which rule withholds it, in a form that fits into a sentence. */
  readonly reason: string;
}
