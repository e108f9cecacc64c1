import { create } from "@bufbuild/protobuf";
import { policyFor } from "@reeve/agent/policy/caller-policy";
import { explainAgent } from "@reeve/agent/policy/explain-agent";
import { longTermMemoryTools } from "@reeve/agent/tools/runtime-tools";
import { runContexts } from "@reeve/agent/policy/policy";
import { Role } from "@reeve/contracts/access/role";
import type { ExplainAgentRequest, ExplainAgentResponse } from "@reeve/contracts/agent";
import { ExplainAgentResponseSchema } from "@reeve/contracts/agent";
import type { Credential } from "@reeve/platform/rpc/principal";
import { getAgent } from "./agents.ts";
import type { GatewayPorts } from "./gateway-ports.ts";

/**
 * Explains what an agent may use in runs of a caller of the tenant. Names only rules that apply to that caller, so that nothing
 * of other tenants is revealed. Throws a Failure if the agent does not exist.
 */
export async function explainAgentAccess(
  { agents, offer, policy }: Pick<GatewayPorts, "agents" | "offer" | "policy">,
  { tenant, roles: ownRoles }: Credential,
  { agentId, roles: given, context: name }: ExplainAgentRequest,
  signal: AbortSignal,
): Promise<ExplainAgentResponse> {
  const { spec } = await getAgent({ agents }, tenant, agentId, signal);
  // Nobody starts a run without the role runner, whatever other roles are asked for.
  const roles = new Set([Role.RUNNER, ...(given.length === 0 ? ownRoles : given)]);
  const context = runContexts.find((known) => known === name) ?? "plain";
  const now = policy();
  const decided = policyFor(now, { tenant, roles, context });
  const place = {
    isEditor: context === "editor",
    extraTools: longTermMemoryTools,
    policy: decided,
  };
  const explained = spec && explainAgent(spec, offer(), place);
  return create(ExplainAgentResponseSchema, {
    ...(explained && { entries: [...explained.entries], limits: explained.limits }),
    hasPolicy: now !== undefined,
    rules: [...decided.rules],
    policyLimits: [...decided.limits].map(([field, { max, rule }]) => ({
      field,
      max: field === "budgets.max_wall_clock" ? max / 1000 : max,
      rule,
    })),
  });
}
