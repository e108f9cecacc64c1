import type { ServiceImpl } from "@connectrpc/connect";
import type { AgentService } from "@reeve/contracts/agent";
import { principalOf } from "@reeve/platform/rpc/principal";
import {
  checkAgent,
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  updateAgent,
} from "../app/agents.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";

/** Returns the handlers of AgentService. */
export function agentService(
  ports: Pick<GatewayPorts, "agents" | "offer">,
): ServiceImpl<typeof AgentService> {
  return {
    createAgent: async ({ spec }, context) => {
      const { tenant } = principalOf(context);
      const { agent, warnings } = await createAgent(ports, tenant, spec, context.signal);
      return { agent, warnings: [...warnings] };
    },
    getAgent: async ({ agentId }, context) => ({
      agent: await getAgent(ports, principalOf(context).tenant, agentId, context.signal),
    }),
    listAgents: async (request, context) => {
      const { tenant } = principalOf(context);
      const { items, nextPageToken } = await listAgents(ports, tenant, request, context.signal);
      return { agents: [...items], nextPageToken };
    },
    updateAgent: async ({ spec, revision }, context) => {
      const { tenant } = principalOf(context);
      const stored = await updateAgent(ports, tenant, spec, revision, context.signal);
      return { agent: stored.agent, warnings: [...stored.warnings] };
    },
    deleteAgent: async ({ agentId }, context) => {
      await deleteAgent(ports, principalOf(context).tenant, agentId, context.signal);
      return {};
    },
    validateAgent: ({ spec }) => {
      const checked = checkAgent(spec, ports);
      if (checked === undefined) {
        return {
          violations: [{ field: "spec", description: "is required", reason: "REQUIRED" }],
        };
      }
      return {
        violations: checked.violations.map((violation) => ({ ...violation })),
        warnings: [...checked.warnings],
        normalized: checked.spec,
      };
    },
  };
}
