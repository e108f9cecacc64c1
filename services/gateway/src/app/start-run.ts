import { createHash, randomUUID } from "node:crypto";
import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { assertReachesEndpoint } from "@reeve/agent/resolve/endpoint-input";
import { assertExecutorSupports } from "@reeve/agent/executors/assert-executor-supports";
import { assertFilesFit } from "@reeve/agent/resolve/assert-files-fit";
import { assertReads } from "@reeve/agent/resolve/assert-reads";
import { asksForMedia, mediaAgent } from "@reeve/agent/media/media-run";
import type { Agent, AgentSpec } from "@reeve/contracts/agent";
import { callsStoredModels } from "@reeve/agent/registry/calls-stored-models";
import { resolveOften } from "@reeve/agent/resolve/recent-resolutions";
import { toolContextOf } from "@reeve/agent/resolve/resolve-agent";
import { ClientManifestSchema } from "@reeve/contracts/tool";
import { jsonDigest } from "@reeve/contracts/digest/json-digest";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunCreated, StartRunRequest } from "@reeve/contracts/run";
import { RunCreatedSchema, StartRunRequestSchema } from "@reeve/contracts/run";
import { MessageSchema } from "@reeve/contracts/thread";
import { runIdOf } from "@reeve/run/commands/run-id";
import { isPrivateRun } from "@reeve/run/head/private-run";
import type { RunHead } from "@reeve/run/head/run-head";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { assertChecked, ignorableRules } from "@reeve/run/policy/runtime-checks";
import { getAgent } from "./agents.ts";
import { assertEncodable } from "./client-tools/manifest-tools.ts";
import { offeredTools } from "./client-tools/offered-tools.ts";
import { delegatesToStart } from "./delegates.ts";
import type { GatewayPorts } from "./gateway-ports.ts";
import { createRun, knownRun } from "./runs/create-run.ts";
import type { CheckedStart } from "./check-start-request.ts";
import { checkStartRequest } from "./check-start-request.ts";
import { readableCollections } from "./knowledge/readable-collections.ts";

/** A run that a request started, or had started before. */
export interface StartedRun {
  readonly run: RunHead;
  /** Possible mistakes in the agent's spec and in the request. Empty if the run had started before. */
  readonly warnings: readonly string[];
}

/**
 * Starts a run. The run is durable when this returns. Idempotent by request id: the run id is derived from the tenant and the
 * request id, so that a repeated request always returns the same run; the same id with another request is refused.
 */
export async function startRun(
  ports: GatewayPorts,
  credential: Credential,
  request: StartRunRequest,
  signal: AbortSignal,
): Promise<StartedRun> {
  const requestId = request.requestId === "" ? randomUUID() : request.requestId;
  const run = runIdOf(credential.tenant, requestId);
  return await startRunAs(ports, credential, { request, requestId, run }, signal);
}

/** A request, and the id of the run that it starts. */
export interface RunToStart {
  readonly request: StartRunRequest;
  /** Recorded with the run. Not empty. */
  readonly requestId: string;
  readonly run: string;
}

/** Starts a run with an id that follows from its request. Otherwise as `startRun`. */
export async function startRunAs(
  ports: GatewayPorts,
  credential: Credential,
  { request, requestId, run }: RunToStart,
  signal: AbortSignal,
): Promise<StartedRun> {
  const { tenant, subject, roles } = credential;
  const key: RunKey = { tenant, run };
  // The hash of the request needs its JSON.
  if (request.clientTools !== undefined) assertEncodable(request.clientTools, "client_tools");
  const requestHash = hashOf(request);
  // A generated id cannot have a run yet.
  const known =
    request.requestId === "" ? undefined : await knownRun(ports, key, requestHash, signal);
  if (known !== undefined) return { run: known, warnings: [] };
  const partsKey = { ...key, nonce: randomUUID() };
  const checked = await checkStartRequest(ports, partsKey, request, signal);
  ports.assertRoom();
  const agent = await agentToRun(ports, tenant, request, signal);
  const spec = specToRun(ports, agent.spec, request);
  const agentId = agent.spec?.id ?? request.agentId;
  const delegates = [...(await delegatesToStart(ports, tenant, spec, signal))];
  const searching = { request, spec, delegates };
  const collections = await readableCollections(ports, credential, searching, signal);
  const { clientTools, threadId, memoryEnabled } = request;
  const isPrivate = isPrivateRun({ memoryEnabled, ...collections });
  const toolRequest = { clientTools, threadId, isPrivate };
  const offered = await offeredTools(ports, { tenant, subject }, toolRequest, signal);
  const offeredTo = { delegates, offeredTools: [...offered.tools] };
  const resolved = { ...request, ...collections, ...offeredTo };
  const ofAgent = resolvable(ports, spec, resolved, { tenant, roles }, checked);
  const { usesStoredModels } = ofAgent;
  const warnings = [...routeWarnings(request), ...offered.warnings, ...ofAgent.warnings];
  const rules = ignorableRules(spec, { ...resolved, usesStoredModels });
  await assertChecked(ports.holders, rules, signal);
  const created = create(RunCreatedSchema, {
    tenant,
    agentId,
    agentRevision: agent.revision,
    ...(spec && { spec }),
    delegates,
    offeredTools: resolved.offeredTools,
    input: request.input,
    parts: [...checked.input.parts],
    messages: request.messages.map((message, index) =>
      create(MessageSchema, { ...message, parts: [...(checked.messages[index]?.parts ?? [])] }),
    ),
    files: request.files,
    startedBy: subject,
    startedByRoles: [...roles],
    agentAuthor: agent.createdBy,
    hasPolicy: ports.policy() !== undefined,
    requestId,
    requestHash,
    labels: request.labels,
    traceparent: traceparentOf(),
    threadId: request.threadId,
    memoryEnabled: request.memoryEnabled,
    ...collections,
    cancelOnDisconnect: request.cancelOnDisconnect,
    ...(request.chatContext && { chatContext: request.chatContext }),
    ...(request.outputSchema && { outputSchema: request.outputSchema }),
  });
  const contents = [checked.input, ...checked.messages].flatMap((each) => each.contents);
  const start = { created, onBusy: request.onBusy, key: partsKey, contents };
  return { run: await createRun(ports, start, signal), warnings };
}

/** Returns the agent of a new run. Throws a Failure if the request asks for a workflow, and names an agent that has none. */
async function agentToRun(
  ports: Pick<GatewayPorts, "agents">,
  tenant: string,
  { agentId, workflowTarget }: StartRunRequest,
  signal: AbortSignal,
): Promise<Agent> {
  if (workflowTarget === "") return await getAgent(ports, tenant, agentId, signal);
  const agent = await getAgent(ports, tenant, workflowTarget, signal);
  if (agent.spec?.workflow !== undefined) return agent;
  const description = `agent "${workflowTarget}" has no workflow; leave workflow_target out to run it as an agent`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, description, {
    violations: [{ field: "workflow_target", description, reason: "NOT_A_WORKFLOW" }],
  });
}

/** Returns what a run of an agent executes: the agent, or the media that the request asks for. A workflow takes precedence. */
function specToRun(
  { offer }: Pick<GatewayPorts, "offer">,
  spec: AgentSpec | undefined,
  { workflowTarget, mediaGeneration }: StartRunRequest,
): AgentSpec | undefined {
  if (spec === undefined || workflowTarget !== "" || !asksForMedia(mediaGeneration)) return spec;
  return mediaAgent(spec, mediaGeneration, offer().models);
}

/** Returns warnings about fields of an earlier protocol, which choose nothing: the agent decides whether it divides its work. */
function routeWarnings({ agentMode }: StartRunRequest): readonly string[] {
  return agentMode === undefined
    ? []
    : ["agent_mode: deprecated, and without effect; the agent decides whether it divides its work"];
}

/** What the resolution of an agent says of a run that starts. */
interface Startable {
  readonly warnings: readonly string[];
  /** Whether the run calls models or providers that are stored through the API. */
  readonly usesStoredModels: boolean;
}

/** Resolves the agent, so that a run that cannot start is refused now instead of failing later. */
export function resolvable(
  { offer, policy }: Pick<GatewayPorts, "offer" | "policy">,
  spec: AgentSpec | undefined,
  request: (StartRunRequest | RunCreated) & Pick<RunCreated, "delegates" | "offeredTools">,
  caller: Pick<Credential, "tenant" | "roles">,
  { executor, fileBytes, files }: Pick<CheckedStart, "executor" | "fileBytes" | "files">,
): Startable {
  if (spec === undefined) return { warnings: [], usesStoredModels: false };
  const offered = offer();
  for (const each of [spec, ...request.delegates.flatMap((delegate) => delegate.spec ?? [])]) {
    const given = each === spec ? request : { files: request.files };
    assertExecutorSupports({ ...given, spec: each }, executor, { tools: offered.tools });
  }
  assertReachesEndpoint(spec, request);
  assertFilesFit(fileBytes, offered.tools);
  const resolved = resolveOften(spec, offered, toolContextOf(request, policy(), caller));
  assertReads(resolved, files);
  return { warnings: resolved.warnings, usesStoredModels: callsStoredModels(resolved) };
}

/** Returns a digest of the request without its id. The order of labels and of members of its schema does not matter. */
function hashOf(request: StartRunRequest): Uint8Array {
  const labels = Object.fromEntries(
    Object.entries(request.labels).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  // The mode has no effect, so the same request with and without it is one.
  const { outputSchema, clientTools, agentMode: _, ...rest } = request;
  const canonical = create(StartRunRequestSchema, { ...rest, labels, requestId: "" });
  const hash = createHash("sha256").update(toBinary(StartRunRequestSchema, canonical));
  // A client may send the members of the schema in another order each time. Requests without one keep the hash of earlier versions.
  if (outputSchema !== undefined) hash.update(jsonDigest(outputSchema));
  if (clientTools !== undefined) {
    hash.update(jsonDigest({ client_tools: toJson(ClientManifestSchema, clientTools) }));
  }
  return hash.digest();
}
