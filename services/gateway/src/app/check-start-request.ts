import { assertBackendSupports } from "@reeve/agent/resolve/execution-backends";
import type { Artifact } from "@reeve/contracts/artifact";
import type { StartRunRequest } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import { startViolations } from "@reeve/run/commands/start-violations";
import type { GatewayPorts } from "./gateway-ports.ts";

/**
 * Throws a Failure for a request that this version does not support, or that is invalid. Lists all violations. Returns the total
 * size of the request's files.
 */
export async function checkStartRequest(
  { artifacts }: Pick<GatewayPorts, "artifacts">,
  tenant: string,
  request: StartRunRequest,
  signal: AbortSignal,
): Promise<{ readonly fileBytes: number }> {
  // Files always pass here: whether a toolhost offers workspaces is checked later, and only for a new run.
  assertBackendSupports(request, "nats", new Set(["files"]));
  const artifactsOf = await Promise.all(
    request.files.map(({ artifactId }) => artifacts.get(tenant, artifactId, signal)),
  );
  const violations = [...startViolations(request), ...missingArtifacts(request, artifactsOf)];
  if (violations.length > 0) throw invalidRequest(violations);
  return { fileBytes: artifactsOf.reduce((sum, each) => sum + (each?.sizeBytes ?? 0), 0) };
}

function missingArtifacts(
  { files }: StartRunRequest,
  found: readonly (Artifact | undefined)[],
): readonly Violation[] {
  return found.flatMap((artifact, index) =>
    artifact === undefined
      ? [
          {
            field: `files[${index}].artifact_id`,
            description: `artifact ${files[index]?.artifactId ?? ""} not found; upload it first`,
            reason: "NOT_FOUND",
          },
        ]
      : [],
  );
}
