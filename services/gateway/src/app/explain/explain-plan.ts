import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallerPolicy } from "@reeve/agent/policy/caller-policy";
import { policyFor } from "@reeve/agent/policy/caller-policy";
import type { Policy, PolicyCaller } from "@reeve/agent/policy/policy";
import { resolveAgent } from "@reeve/agent/resolve/resolve-agent";
import type { Offer } from "@reeve/agent/spec/check-spec";
import type { SpecWarning } from "@reeve/agent/spec/spec-warning";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { Toolbelt, ToolContext } from "@reeve/agent/tools/toolbelt";
import { toolbelt } from "@reeve/agent/tools/toolbelt";
import { Role } from "@reeve/contracts/access/role";
import type { AgentSpec, ResolutionPlan, ToolCallersSchema } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { reasonName } from "@reeve/platform/reason-name";
import type { GatewayPorts } from "../gateway-ports.ts";

/** A resolution, or why there is none. */
interface Resolution {
  readonly plan?: ResolutionPlan;
  readonly belt?: Toolbelt;
  readonly violations: readonly Violation[];
  readonly warnings: readonly SpecWarning[];
}

/** Resolves an agent, without a Failure if it cannot be resolved. */
export function tryResolve(spec: AgentSpec, offered: Offer, place: ToolContext): Resolution {
  try {
    const { plan, belt, details } = resolveAgent(spec, offered, place);
    return { plan, belt, violations: [], warnings: details };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const own = { field: "", description: error.message, reason: reasonName(error.reason) };
    return {
      violations: error.violations.length === 0 ? [own] : error.violations,
      warnings: [],
    };
  }
}

/**
 * Returns the plan of a valid spec in a run that the caller starts outside of threads, without long-term memory, or why such a run does
 * not start.
 */
export function planOfSpec(
  spec: AgentSpec | undefined,
  { offer, policy }: Pick<GatewayPorts, "offer" | "policy">,
  {
    tenant,
    roles,
    delegates = [],
  }: Pick<Credential, "tenant" | "roles"> & Pick<ToolContext, "delegates">,
): Resolution | undefined {
  if (spec === undefined) return undefined;
  const caller = {
    tenant,
    roles: new Set([Role.RUNNER, ...roles]),
    context: "plain",
    threadId: "",
  } as const;
  const decided = policyFor(policy(), caller);
  const place = { isEditor: false, extraTools: [], policy: decided, delegates };
  return tryResolve(spec, offer(), place);
}

/** The roles that a rule of the policy may distinguish, beside RUNNER, which every caller who starts runs has. */
const furtherRoles = [Role.APPROVER, Role.AUTHOR, Role.OPERATOR] as const;

/** Returns for each tool of a plan which role gives it to a caller in the same place. */
export function callersOf(
  spec: AgentSpec,
  tools: readonly string[],
  offered: Offer,
  place: ToolContext,
  { now, ...caller }: Omit<PolicyCaller, "roles"> & { readonly now: Policy | undefined },
): MessageInitShape<typeof ToolCallersSchema>[] {
  // Equal rules give equal tools: the tools of a policy that says nothing about roles are collected once.
  const known = new Map([[keyOf(place.policy), new Set(tools)]]);
  const toolsWith = (...further: readonly Role[]): ReadonlySet<string> => {
    const policy = policyFor(now, { ...caller, roles: new Set([Role.RUNNER, ...further]) });
    const same = known.get(keyOf(policy));
    if (same !== undefined) return same;
    const found = toolbelt(spec, offered.tools, {
      plugins: offered.models.plugins,
      hasNodeRegistry: offered.models.nodeRegistry,
      ...place,
      policy,
    }).tools;
    const names = new Set([...found.map(({ name }) => name), finishSubtaskName]);
    known.set(keyOf(policy), names);
    return names;
  };
  const ofRunner = now === undefined ? new Set(tools) : toolsWith();
  const others =
    now === undefined ? [] : furtherRoles.map((role) => [role, toolsWith(role)] as const);
  return tools.map((tool) => ({
    tool,
    roles: ofRunner.has(tool)
      ? [Role.RUNNER]
      : others.filter(([, names]) => names.has(tool)).map(([role]) => role),
  }));
}

function keyOf({ rules }: CallerPolicy): string {
  return JSON.stringify(rules);
}

/** Returns who decides on approvals, as the spec names them. */
export function decidersOf({ approvalPolicy }: AgentSpec): readonly string[] {
  const named = (approvalPolicy?.alternatives ?? []).flatMap(({ people, groups }) =>
    people.length + groups.length === 0
      ? [everyApprover]
      : [
          ...people,
          ...groups.map((group) => (group.startsWith("role:") ? group : `group:${group}`)),
        ],
  );
  return named.length === 0 ? [everyApprover] : [...new Set(named)];
}

const everyApprover = "role:approver";
