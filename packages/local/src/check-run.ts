import { create } from "@bufbuild/protobuf";
import { assertExecutorSupports } from "@reeve/agent/executors/assert-executor-supports";
import { assertReachesEndpoint } from "@reeve/agent/resolve/endpoint-input";
import { asksForMedia, mediaAgent } from "@reeve/agent/media/media-run";
import { resolveAgent, toolContextOf } from "@reeve/agent/resolve/resolve-agent";
import type { Offer } from "@reeve/agent/spec/check-spec";
import { checkSpec } from "@reeve/agent/spec/check-spec";
import { validSpec } from "@reeve/agent/spec/valid-spec";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { DelegateAgent, StartRunRequest } from "@reeve/contracts/run";
import { DelegateAgentSchema, StartRunRequestSchema } from "@reeve/contracts/run";
import { assertValid, invalidRequest } from "@reeve/platform/strict/assert-valid";
import { mergeViolations } from "@reeve/platform/strict/merge-violations";
import { readInit } from "@reeve/platform/strict/read-init";
import { startViolations } from "@reeve/run/commands/start-violations";
import type { AgentInit } from "./agent-init.ts";

/** A run as a caller of `runAgent` describes it. */
export interface GivenRun {
  readonly spec: AgentInit;
  readonly input: string;
  readonly executor: string;
  readonly created: object | undefined;
  /** The agents that the run may call as delegates. */
  readonly delegates: readonly AgentInit[];
  /** Whether there is somebody who decides approvals. */
  readonly isDecided: boolean;
}

/** A run that may start. */
export interface CheckedRun {
  readonly spec: AgentSpec;
  readonly request: StartRunRequest;
  /** The agents that the run can reach through its delegates, ordered by id. */
  readonly delegates: readonly DelegateAgent[];
  readonly warnings: readonly string[];
}

/**
 * Checks a run as a deployment checks an agent and the request that starts it. Throws the same Failures, with the paths of a
 * spec relative to it.
 */
export function checkRun(given: GivenRun, offer: Offer): CheckedRun {
  const { spec: agent, warnings } = checkedSpec(given.spec, offer);
  const known = given.delegates.map((each) => checkedSpec(each, offer).spec);
  assertDistinct([agent, ...known]);
  const delegates = reachable(agent, known);
  const { input, executor } = given;
  const asked = { ...given.created, agentId: agent.id, input, executor };
  const { init, violations: shape } = readInit(StartRunRequestSchema, asked);
  const request = create(StartRunRequestSchema, init);
  assertValid(StartRunRequestSchema, request, shape);
  const { mediaGeneration: media } = request;
  const spec = asksForMedia(media) ? mediaAgent(agent, media, offer.models) : agent;
  assertReachesEndpoint(spec, request);
  const surroundings = { tools: offer.tools, isDecided: given.isDecided };
  for (const each of [spec, ...delegates.flatMap((delegate) => delegate.spec ?? [])]) {
    // A delegate gets a prompt only.
    const given = each === spec ? request : { ...request, parts: [], messages: [] };
    assertExecutorSupports({ ...given, spec: each }, "local", surroundings);
  }
  const contradictions = startViolations(request);
  if (contradictions.length > 0) throw invalidRequest(contradictions);
  const resolved = resolveAgent(
    spec,
    offer,
    toolContextOf({ ...request, delegates: [...delegates] }, undefined, caller),
  );
  return { spec, request, delegates, warnings: [...new Set([...warnings, ...resolved.warnings])] };
}

const caller = { tenant: "local", roles: undefined };

function checkedSpec(given: AgentInit, offer: Offer): ReturnType<typeof validSpec> {
  const sent = readInit(AgentSpecSchema, given);
  const checked = checkSpec(create(AgentSpecSchema, sent.init), offer);
  return validSpec({
    ...checked,
    violations: mergeViolations(sent.violations, checked.violations),
  });
}

/** Throws if two agents have one id: a deployment has one agent of an id. */
function assertDistinct(specs: readonly AgentSpec[]): void {
  const violations = specs.flatMap(({ id }, index) =>
    specs.findIndex((each) => each.id === id) === index
      ? []
      : [
          {
            field: "agents",
            description: `two agents have the id "${id}"`,
            reason: "AGENT_EXISTS",
          },
        ],
  );
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Returns the agents that a run can reach, ordered by id. The resolution refuses one that is not known. */
function reachable(spec: AgentSpec, known: readonly AgentSpec[]): readonly DelegateAgent[] {
  const found = new Map<string, AgentSpec>();
  const pending = [...spec.delegates];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const each = known.find((candidate) => candidate.id === id);
    if (each === undefined || found.has(id)) continue;
    found.set(id, each);
    pending.push(...each.delegates);
  }
  return [...found.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((each) => create(DelegateAgentSchema, { agentId: each.id, spec: each, author: "local" }));
}
