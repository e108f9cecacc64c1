import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { SpecWarning } from "@reeve/agent/spec/spec-warning";
import { warningOf, warningText } from "@reeve/agent/spec/spec-warning";
import type { AgentService, AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { reportedViolations } from "@reeve/platform/list-violations";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { credentialOf, principalOf } from "@reeve/platform/rpc/principal";
import { shapeOfUnvalidated } from "@reeve/platform/rpc/validate-interceptor";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { SentSpec } from "../app/agents.ts";
import {
  checkAgent,
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  updateAgent,
} from "../app/agents.ts";
import { limitRevisionReads, listAgentRevisions } from "../app/agent-revisions.ts";
import { explainAgentAccess } from "../app/explain/explain-agent.ts";
import { planOfSpec } from "../app/explain/explain-plan.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { assertProposable } from "../app/models/change-models.ts";

/** How many warnings a response lists. */
export const maxWarnings = 50;

/** Returns the handlers of AgentService. */
export function agentService(
  ports: Pick<
    GatewayPorts,
    "agents" | "offer" | "policy" | "assertRoom" | "holders" | "runLists" | "log"
  >,
  { log }: { readonly log: Pick<Logger, "warn"> },
): ServiceImpl<typeof AgentService> {
  const reads = limitRevisionReads();
  return {
    createAgent: async ({ spec, managedBy }, context) => {
      const { agent, warnings } = await createAgent(
        ports,
        principalOf(context),
        { ...sent(spec, context), managedBy },
        context.signal,
      );
      return { agent, warnings: warnings.slice(0, maxWarnings) };
    },
    getAgent: async ({ agentId }, context) => ({
      agent: await getAgent(ports, principalOf(context).tenant, agentId, context.signal),
    }),
    listAgents: async (request, context) => {
      const { tenant } = principalOf(context);
      const { items, nextPageToken } = await listAgents(ports, tenant, request, context.signal);
      return { agents: [...items], nextPageToken };
    },
    listAgentRevisions: async ({ agentId, pageSize, pageToken }, context) => {
      const { tenant } = principalOf(context);
      const request = { agentId, pageSize, pageToken };
      const revisions = { ...ports, reads, log };
      const page = await listAgentRevisions(revisions, tenant, request, context.signal);
      return { revisions: [...page.items], nextPageToken: page.nextPageToken };
    },
    updateAgent: async ({ spec, revision, managedBy }, context) => {
      const author = principalOf(context);
      const given = sent(spec, context);
      const stored = await updateAgent(
        ports,
        author,
        given,
        { revision, managedBy },
        context.signal,
      );
      return { agent: stored.agent, warnings: stored.warnings.slice(0, maxWarnings) };
    },
    deleteAgent: async ({ agentId, revision, managedBy }, context) => {
      const { tenant } = principalOf(context);
      await deleteAgent(ports, tenant, { agentId, revision, managedBy }, context.signal);
      noteEffect(context);
      return {};
    },
    explainAgent: (request, context) =>
      explainAgentAccess(ports, credentialOf(context), request, context.signal),
    listModels: () => {
      const { models, providers, skills } = ports.offer().models;
      return {
        models: models.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        providers: providers.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        skills: skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      };
    },
    validateAgent: async ({ spec, others, registry }, context) => {
      if (registry !== undefined) assertProposable(registry);
      const offered = registry && ports.offer(registry);
      const within = { ...ports, ...(offered && { offer: () => offered }) };
      const credential = credentialOf(context);
      const given = { ...sent(spec, context), others };
      const { tenant } = credential;
      const found = await checkAgent(within, tenant, given, context.signal);
      const { checked, delegates } = found;
      const reported = reportedViolations(checked.violations);
      const resolved =
        checked.violations.length === 0
          ? planOfSpec(checked.spec, within, { ...credential, delegates })
          : undefined;
      const plan = resolved?.plan;
      const unresolved = refusedRuns(resolved?.violations ?? []);
      const more = checked.violations.length - reported.length;
      return {
        violations: reported.map((violation) => ({
          ...violation,
          // Relative to the spec; a violation of the request's own field stays as it is.
          field: violation.field.replace(/^spec\./, ""),
        })),
        warnings: [
          ...(more > 0 ? [`${more} more violations are not listed; fix the others first`] : []),
          ...[...unresolved.map(warningText), ...checked.warnings].slice(0, maxWarnings),
        ],
        warningDetails: [...unresolved, ...checked.details].slice(0, maxWarnings),
        ...(checked.spec && { normalized: checked.spec }),
        ...(plan && { plan }),
      };
    },
  };
}

/**
 * Returns why no run of a valid agent starts because of its delegates, which are agents of their own and may be repaired later, or because
 * the deployment has more tools than a run can record.
 */
function refusedRuns(violations: readonly Violation[]): readonly SpecWarning[] {
  return violations.flatMap(({ field, description }) => {
    const of = ["delegates", "allowed_tools"].find((name) => field.startsWith(name));
    return of === undefined ? [] : [warningOf(`${of}: no run starts: ${description}`)];
  });
}

function sent(spec: AgentSpec | undefined, { values }: HandlerContext): SentSpec {
  return { spec, shape: values.get(shapeOfUnvalidated) };
}
