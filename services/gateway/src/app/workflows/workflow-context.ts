import { create } from "@bufbuild/protobuf";
import { delegateIdOf } from "@reeve/agent/delegates/delegate-tool";
import { policyFor } from "@reeve/agent/policy/caller-policy";
import { classNames } from "@reeve/agent/tools/permission-classes";
import { toolbelt } from "@reeve/agent/tools/toolbelt";
import type { WorkflowContext } from "@reeve/agent/workflow/check/workflow-context";
import { callableAgents } from "@reeve/agent/workflow/check/workflow-problems";
import { Role } from "@reeve/contracts/access/role";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { DelegateAgent } from "@reeve/contracts/run";
import { DelegateAgentSchema } from "@reeve/contracts/run";
import type { ToolCatalog } from "@reeve/contracts/tool";
import type { Credential } from "@reeve/platform/rpc/principal";
import { getAgent } from "../agents.ts";
import { delegatesOf } from "../delegates.ts";
import type { GatewayPorts } from "../gateway-ports.ts";

/** The ports that the methods of WorkflowService use. */
export type WorkflowPorts = Pick<GatewayPorts, "agents" | "offer" | "policy">;

/**
 * Returns what workflows of a caller can use: the tools and delegates of an agent, or if none is named, all tools that the deployment offers to
 * the caller and all agents of its tenant. Throws a Failure if the agent does not exist.
 */
export async function workflowContextOf(
  ports: WorkflowPorts,
  { tenant, roles }: Pick<Credential, "tenant" | "roles">,
  agentId: string,
  signal: AbortSignal,
): Promise<WorkflowContext> {
  const { tools: catalogs, models } = ports.offer();
  const { spec, agents } =
    agentId === ""
      ? { spec: anyAgent(catalogs), agents: await allAgents(ports, tenant, signal) }
      : await namedAgent(ports, tenant, agentId, signal);
  // Only callers with this role start runs.
  const caller = {
    tenant,
    roles: new Set([Role.RUNNER, ...roles]),
    context: "plain",
    threadId: "",
  } as const;
  const policy = policyFor(ports.policy(), caller);
  const context = { isEditor: false, extraTools: [], policy, plugins: models.plugins };
  const { tools, excluded } = toolbelt(spec, catalogs, context);
  return {
    catalog: {
      tools: tools.filter(({ name }) => delegateIdOf(name) === undefined),
      agents: callableAgents(agents),
    },
    excluded,
    delegates: agentId === "" ? agents.map((each) => each.agentId) : spec.delegates,
  };
}

/** Returns an agent that has every tool that an agent can have. */
function anyAgent(catalogs: readonly ToolCatalog[]): AgentSpec {
  const sources = catalogs.flatMap(({ tools }) => tools.map(({ source }) => source));
  const servers = sources.filter((source) => source.startsWith("mcp:"));
  return create(AgentSpecSchema, {
    permissionClasses: classNames.filter((name) => name !== "editor_mutate"),
    mcpServers: [...new Set(servers)].map((source) => source.slice("mcp:".length)),
    questions: {},
    allowParallelSubagents: true,
  });
}

async function allAgents(
  { agents }: WorkflowPorts,
  tenant: string,
  signal: AbortSignal,
): Promise<readonly DelegateAgent[]> {
  const rows = await agents.list(tenant, signal);
  return rows.flatMap(({ record: { spec, revision } }) =>
    spec === undefined ? [] : [create(DelegateAgentSchema, { agentId: spec.id, revision, spec })],
  );
}

async function namedAgent(
  ports: WorkflowPorts,
  tenant: string,
  agentId: string,
  signal: AbortSignal,
): Promise<{ readonly spec: AgentSpec; readonly agents: readonly DelegateAgent[] }> {
  const { spec } = await getAgent(ports, tenant, agentId, signal);
  if (spec === undefined) return { spec: create(AgentSpecSchema), agents: [] };
  const { agents } = await delegatesOf(ports, tenant, { spec }, signal);
  const own = new Set(spec.delegates);
  return { spec, agents: agents.filter((each) => own.has(each.agentId)) };
}
