import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";

const unsupportedRemoteBackend = "UNSUPPORTED_REMOTE_BACKEND";

/** Returns why the endpoint of a spec cannot be used: it is malformed, or this version has no backend for it. */
export function endpointViolations({
  endpoint,
}: Pick<AgentSpec, "endpoint">): readonly Violation[] {
  if (endpoint === undefined) return [];
  const { url, protocol } = endpoint;
  const malformed: readonly Violation[] = isHttpUrl(url)
    ? []
    : [
        {
          field: "endpoint.url",
          description: `"${url.slice(0, 200)}" is not an address that starts with http:// or https://; correct it`,
          reason: "INVALID_REMOTE_ENDPOINT_CONFIG",
        },
      ];
  const problem =
    protocol === "a2a" || protocol === ""
      ? "this version has no backend for remote agents of the protocol a2a; leave endpoint out"
      : `there is no backend for the protocol "${protocol.slice(0, 63)}"; the only protocol is a2a`;
  return [
    ...malformed,
    { field: "endpoint.protocol", description: problem, reason: unsupportedRemoteBackend },
  ];
}

/** Throws a Failure with reason REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE if an agent runs at an endpoint. */
export function assertRunsHere({ id, endpoint }: Pick<AgentSpec, "id" | "endpoint">): void {
  if (endpoint === undefined) return;
  throw new Failure(
    "precondition",
    ErrorReason.REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE,
    `agent ${id} has an endpoint, so it cannot be run as a local agent; leave endpoint out`,
    {
      violations: [
        {
          field: "endpoint",
          description: "an agent with an endpoint cannot be run as a local agent; leave it out",
          reason: "REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE",
        },
      ],
      metadata: { agent_id: id },
    },
  );
}

function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && (url.protocol === "http:" || url.protocol === "https:");
}
