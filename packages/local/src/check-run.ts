import { create } from "@bufbuild/protobuf";
import type { Capability } from "@reeve/agent/resolve/execution-backends";
import { assertBackendSupports, offersSandbox } from "@reeve/agent/resolve/execution-backends";
import { resolveAgent, toolContextOf } from "@reeve/agent/resolve/resolve-agent";
import type { Offer } from "@reeve/agent/spec/check-spec";
import { checkSpec } from "@reeve/agent/spec/check-spec";
import { validSpec } from "@reeve/agent/spec/valid-spec";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { StartRunRequest } from "@reeve/contracts/run";
import { StartRunRequestSchema } from "@reeve/contracts/run";
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
  /** Whether there is somebody who decides approvals. */
  readonly isDecided: boolean;
}

/** A run that may start. */
export interface CheckedRun {
  readonly spec: AgentSpec;
  readonly request: StartRunRequest;
  readonly warnings: readonly string[];
}

/**
 * Checks a run as a deployment checks an agent and the request that starts it. Throws the same Failures, with the paths of a
 * spec relative to it.
 */
export function checkRun(given: GivenRun, offer: Offer): CheckedRun {
  const sent = readInit(AgentSpecSchema, given.spec);
  const checked = checkSpec(create(AgentSpecSchema, sent.init), offer);
  const violations = mergeViolations(sent.violations, checked.violations);
  const { spec, warnings } = validSpec({ ...checked, violations });
  const { input, executor } = given;
  const asked = { ...given.created, agentId: spec.id, input, executor };
  const { init, violations: shape } = readInit(StartRunRequestSchema, asked);
  const request = create(StartRunRequestSchema, init);
  assertValid(StartRunRequestSchema, request, shape);
  assertBackendSupports({ ...request, spec }, "local", capabilitiesOf(given, offer));
  const contradictions = startViolations(request);
  if (contradictions.length > 0) throw invalidRequest(contradictions);
  const resolved = resolveAgent(
    spec,
    offer,
    toolContextOf(request, undefined, { tenant: "local", roles: undefined }),
  );
  return { spec, request, warnings: [...new Set([...warnings, ...resolved.warnings])] };
}

function capabilitiesOf({ isDecided }: GivenRun, { tools }: Offer): Set<Capability> {
  const capabilities = new Set<Capability>();
  if (isDecided) capabilities.add("approvals");
  if (offersSandbox(tools)) capabilities.add("sandbox");
  return capabilities;
}
