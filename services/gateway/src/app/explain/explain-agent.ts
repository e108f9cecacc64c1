import { create } from "@bufbuild/protobuf";
import { policyFor } from "@reeve/agent/policy/caller-policy";
import { explainAgent } from "@reeve/agent/policy/explain-agent";
import { runContexts } from "@reeve/agent/policy/policy";
import { longTermMemoryTools } from "@reeve/agent/tools/runtime-tools";
import { Role } from "@reeve/contracts/access/role";
import type { ExplainAgentRequest, ExplainAgentResponse } from "@reeve/contracts/agent";
import { ExplainAgentResponseSchema } from "@reeve/contracts/agent";
import type { Credential } from "@reeve/platform/rpc/principal";
import { getAgent } from "../agents.ts";
import { callersOf, decidersOf, tryResolve } from "./explain-plan.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { rolesOfSubject } from "./roles-of-subject.ts";

/**
 * Explains what an agent may use in runs of a caller of the tenant. Names only rules that apply to that caller, so that nothing
 * of other tenants is revealed. Throws a Failure if the agent does not exist.
 */
export async function explainAgentAccess(
  ports: Pick<GatewayPorts, "agents" | "offer" | "policy" | "runLists" | "log">,
  { tenant, roles: ownRoles }: Credential,
  { agentId, roles: given, context: name, subject }: ExplainAgentRequest,
  signal: AbortSignal,
): Promise<ExplainAgentResponse> {
  const { offer, policy } = ports;
  const { spec } = await getAgent(ports, tenant, agentId, signal);
  const named = given.length > 0 ? given : undefined;
  const caller =
    named ?? (subject === "" ? ownRoles : await rolesOfSubject(ports, tenant, subject, signal));
  // Nobody starts a run without the role runner, whatever other roles are asked for.
  const roles = new Set([Role.RUNNER, ...caller]);
  const context = runContexts.find((known) => known === name) ?? "plain";
  const now = policy();
  const decided = policyFor(now, { tenant, roles, context });
  const place = {
    isEditor: context === "editor",
    extraTools: longTermMemoryTools,
    policy: decided,
  };
  const offered = offer();
  const explained = spec && explainAgent(spec, offered, place);
  const resolved = spec && tryResolve(spec, offered, place);
  const tools = resolved?.plan?.tools.map((tool) => tool.name) ?? [];
  return create(ExplainAgentResponseSchema, {
    ...(explained && { entries: [...explained.entries], limits: explained.limits }),
    ...(resolved?.plan && { plan: resolved.plan }),
    violations: [...(resolved?.violations ?? [])],
    warnings: [...(resolved?.warnings ?? [])],
    callers: spec === undefined ? [] : callersOf(spec, tools, offered, { now, tenant, context }),
    roles: [...roles],
    deciders: spec === undefined ? [] : [...decidersOf(spec)],
    hasPolicy: now !== undefined,
    rules: [...decided.rules],
    policyLimits: [...decided.limits].map(([field, { max, rule }]) => ({
      field,
      max: field === "budgets.max_wall_clock" ? max / 1000 : max,
      rule,
    })),
  });
}
