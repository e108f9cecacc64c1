import { clone, create } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpec, ModelCatalog } from "@reeve/contracts/agent";
import { AgentSpecSchema, QuestionPolicySchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";
import { askUserName } from "../tools/runtime-tools.ts";

/** The provider through which runtimes call agents at endpoints. Only a runtime that may call some announces it. */
export const remoteProvider = "a2a";
const unsupportedRemoteBackend = "UNSUPPORTED_REMOTE_BACKEND";

/**
 * Returns the spec with which an agent is resolved. An agent at an endpoint is one whose model is the remote agent, and whose only tool asks
 * people what the remote agent needs to know.
 */
export function localSpec(spec: AgentSpec): AgentSpec {
  if (spec.endpoint === undefined) return spec;
  const local = clone(AgentSpecSchema, spec);
  local.model = `${remoteProvider}:${spec.endpoint.url}`;
  local.allowedTools = create(ListValueSchema, {
    values: [{ kind: { case: "stringValue", value: askUserName } }],
  });
  local.questions ??= create(QuestionPolicySchema);
  return local;
}

/** Returns why the endpoint of a spec cannot be used, and which of its other fields would be ignored. */
export function endpointViolations(
  spec: AgentSpec,
  { providers }: Pick<ModelCatalog, "providers">,
): readonly Violation[] {
  const { endpoint } = spec;
  if (endpoint === undefined) return [];
  const { url, protocol } = endpoint;
  const malformed = {
    field: "endpoint.url",
    description: `"${url.slice(0, 200)}" is not an address that starts with http:// or https:// and has no credential; correct it`,
    reason: "INVALID_REMOTE_ENDPOINT_CONFIG",
  };
  const isOther = protocol !== "a2a" && protocol !== "";
  const isCallable = providers.some(({ name }) => name === remoteProvider);
  const problem = isOther
    ? `there is no backend for the protocol "${protocol.slice(0, 63)}"; the only protocol is a2a`
    : isCallable
      ? undefined
      : notCallable;
  const unsupported = { field: "endpoint.protocol", reason: unsupportedRemoteBackend };
  const violations = [
    ...(isEndpointUrl(url) ? [] : [malformed]),
    ...(problem === undefined ? [] : [{ ...unsupported, description: problem }]),
  ];
  if (violations.length > 0) return violations;
  return ignoredFields(spec).map((field) => ({
    field,
    description: "an agent with an endpoint works elsewhere, where this has no effect; remove it",
    reason: unsupportedCapability,
  }));
}

const notCallable =
  "no runtime here calls remote agents; name those that they may call in the file of REEVE_A2A_REMOTES";

/** The fields that decide how an agent works here. */
function ignoredFields(spec: AgentSpec): readonly string[] {
  const given: readonly (readonly [field: string, isSet: boolean])[] = [
    ["model", spec.model !== ""],
    ["instructions", spec.instructions !== ""],
    ["planning_enabled", spec.planningEnabled],
    ["hitl_tools", spec.hitlTools.length > 0],
    ["injected_tool_args", Object.keys(spec.injectedToolArgs).length > 0],
    ["context_policy", spec.contextPolicy !== undefined],
    ["delegates", spec.delegates.length > 0],
    ["allowed_tools", spec.allowedTools !== undefined],
    ["allowed_tool_patterns", spec.allowedToolPatterns !== undefined],
    ["permission_classes", spec.permissionClasses.length > 0],
    ["mcp_servers", spec.mcpServers.length > 0],
    ["fallback_models", spec.fallbackModels.length > 0],
    ["output_schema", spec.outputSchema !== undefined],
    ["skills", spec.skills.length > 0],
    ["workflow", spec.workflow !== undefined],
  ];
  return given.filter(([, isSet]) => isSet).map(([field]) => field);
}

/** Throws a Failure with reason REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE if an agent works elsewhere, and nothing here calls remote agents. */
export function assertRunnable(
  { id, endpoint }: Pick<AgentSpec, "id" | "endpoint">,
  { providers }: Pick<ModelCatalog, "providers">,
): void {
  if (endpoint === undefined || providers.some(({ name }) => name === remoteProvider)) return;
  throw new Failure(
    "precondition",
    ErrorReason.REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE,
    `agent ${id} has an endpoint, so it cannot be run as a local agent: ${notCallable}`,
    {
      violations: [
        {
          field: "endpoint",
          description: `an agent with an endpoint cannot be run as a local agent: ${notCallable}`,
          reason: "REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE",
        },
      ],
      metadata: { agent_id: id },
    },
  );
}

function isEndpointUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "" && url.hash === "";
}
