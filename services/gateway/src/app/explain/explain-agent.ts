import { create } from "@bufbuild/protobuf";
import { policyFor } from "@reeve/agent/policy/caller-policy";
import type { Access } from "@reeve/agent/policy/explain-agent";
import { explainAgent } from "@reeve/agent/policy/explain-agent";
import { runContexts } from "@reeve/agent/policy/policy";
import { longTermMemoryTools } from "@reeve/agent/tools/runtime-tools";
import { Role } from "@reeve/contracts/access/role";
import type { ExplainAgentRequest, ExplainAgentResponse } from "@reeve/contracts/agent";
import { ExplainAgentResponseSchema } from "@reeve/contracts/agent";
import type { Credential } from "@reeve/platform/rpc/principal";
import { getAgent } from "../agents.ts";
import { delegatesOf } from "../delegates.ts";
import { callersOf, decidersOf, tryResolve } from "./explain-plan.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { rolesOfSubject } from "./roles-of-subject.ts";

const isTool = ({ kind }: Access) => kind === "tool";

/** Returns what a run without long-term memory may use, with the tools of that memory, which it does not have. */
function withMemoryTools(entries: readonly Access[]): Access[] {
  const reason = "only a run with memory_enabled has it";
  const absent = longTermMemoryTools.map(({ name }): Access => ({
    kind: "tool",
    name,
    allowed: false,
    rule: "",
    reason,
  }));
  const tools = [...entries.filter(isTool), ...absent].toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return [...tools, ...entries.filter((entry) => !isTool(entry))];
}

/**
 * Explains what an agent may use in runs of a caller of the tenant. Names only rules that apply to that caller, so that nothing
 * of other tenants is revealed. Throws a Failure if the agent does not exist.
 */
export async function explainAgentAccess(
  ports: Pick<GatewayPorts, "agents" | "offer" | "policy" | "runLists" | "log">,
  { tenant, roles: ownRoles }: Credential,
  { agentId, roles: given, context: name, threadId, subject, memoryEnabled }: ExplainAgentRequest,
  signal: AbortSignal,
): Promise<ExplainAgentResponse> {
  const { offer, policy } = ports;
  const { spec } = await getAgent(ports, tenant, agentId, signal);
  const named = given.length > 0 ? given : undefined;
  const caller =
    named ?? (subject === "" ? ownRoles : await rolesOfSubject(ports, tenant, subject, signal));
  // Nobody starts a run without the role runner, whatever other roles are asked for.
  const roles = new Set([Role.RUNNER, ...caller]);
  const context =
    runContexts.find((known) => known === name) ?? (threadId === "" ? "plain" : "thread");
  const { agents: delegates, violations } = spec
    ? await delegatesOf(ports, tenant, { spec }, signal)
    : { agents: [], violations: [] };
  const now = policy();
  const decided = policyFor(now, { tenant, roles, context, threadId });
  const place = {
    isEditor: context === "editor",
    extraTools: memoryEnabled ? longTermMemoryTools : [],
    policy: decided,
    delegates,
  };
  const offered = offer();
  const unresolved = { violations, warnings: [], belt: undefined, plan: undefined };
  const resolved = violations.length > 0 ? unresolved : spec && tryResolve(spec, offered, place);
  const explained = spec && explainAgent(spec, offered, place, resolved?.belt);
  const tools = resolved?.plan?.tools.map((tool) => tool.name) ?? [];
  return create(ExplainAgentResponseSchema, {
    ...(explained && {
      entries: memoryEnabled ? [...explained.entries] : withMemoryTools(explained.entries),
      limits: explained.limits,
    }),
    ...(resolved?.plan && { plan: resolved.plan }),
    violations: [...(resolved?.violations ?? [])],
    warnings: [...(resolved?.warnings ?? [])],
    callers:
      spec === undefined
        ? []
        : callersOf(spec, tools, offered, place, { now, tenant, context, threadId }),
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
