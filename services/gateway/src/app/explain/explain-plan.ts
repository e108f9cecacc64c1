import type { MessageInitShape } from "@bufbuild/protobuf";
import { policyFor, unrestricted } from "@reeve/agent/policy/caller-policy";
import type { Policy, PolicyCaller } from "@reeve/agent/policy/policy";
import { resolveAgent } from "@reeve/agent/resolve/resolve-agent";
import type { Offer } from "@reeve/agent/spec/check-spec";
import type { SpecWarning } from "@reeve/agent/spec/spec-warning";
import { longTermMemoryTools } from "@reeve/agent/tools/runtime-tools";
import type { ToolContext } from "@reeve/agent/tools/toolbelt";
import { toolbelt } from "@reeve/agent/tools/toolbelt";
import { Role } from "@reeve/contracts/access/role";
import type { AgentSpec, ResolutionPlan, ToolCallersSchema } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { reasonName } from "@reeve/platform/rpc/connect-failure";
import type { GatewayPorts } from "../gateway-ports.ts";

/** A resolution, or why there is none. */
interface Resolution {
  readonly plan?: ResolutionPlan;
  readonly violations: readonly Violation[];
  readonly warnings: readonly SpecWarning[];
}

/** Resolves an agent, without a Failure if it cannot be resolved. */
export function tryResolve(spec: AgentSpec, offered: Offer, place: ToolContext): Resolution {
  try {
    const { plan, details } = resolveAgent(spec, offered, place);
    return { plan, violations: [], warnings: details };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const own = { field: "", description: error.message, reason: reasonName(error.reason) };
    return {
      violations: error.violations.length === 0 ? [own] : error.violations,
      warnings: [],
    };
  }
}

/** Returns the plan of a valid spec for a caller to whom no rule of the operator's policy applies. Undefined: there is none. */
export function planOfSpec(
  spec: AgentSpec | undefined,
  { offer }: Pick<GatewayPorts, "offer">,
): ResolutionPlan | undefined {
  if (spec === undefined) return undefined;
  return tryResolve(spec, offer(), { isEditor: false, extraTools: [], policy: unrestricted }).plan;
}

/** The roles that a rule of the policy may distinguish, beside RUNNER, which every caller who starts runs has. */
const furtherRoles = [Role.APPROVER, Role.AUTHOR, Role.OPERATOR] as const;

/** Returns for each tool which role gives it to a caller in the same place. */
export function callersOf(
  spec: AgentSpec,
  tools: readonly string[],
  offered: Offer,
  { now, tenant, context }: Omit<PolicyCaller, "roles"> & { readonly now: Policy | undefined },
): MessageInitShape<typeof ToolCallersSchema>[] {
  const toolsWith = (...further: readonly Role[]): ReadonlySet<string> => {
    const policy = policyFor(now, { tenant, roles: new Set([Role.RUNNER, ...further]), context });
    const place = { isEditor: context === "editor", extraTools: longTermMemoryTools, policy };
    return new Set(toolbelt(spec, offered.tools, place).tools.map(({ name }) => name));
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
