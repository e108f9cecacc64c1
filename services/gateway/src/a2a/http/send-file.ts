import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { taskLabel } from "../message/read-message.ts";
import type { GatewayApi } from "../gateway-api.ts";

/** Returns an answer with a file that a task of an agent has produced. */
export async function sendFile(
  api: GatewayApi,
  agentId: string,
  artifactId: string,
  signal: AbortSignal,
): Promise<UniversalServerResponse> {
  const messages = api.artifacts.downloadArtifact({ artifactId }, { signal });
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  const artifact =
    first.done === true || first.value.part.case !== "artifact"
      ? undefined
      : first.value.part.value;
  const isOfAgent =
    artifact !== undefined && (await isOfTask(api, agentId, artifact.runId, signal));
  if (artifact === undefined || !isOfAgent) {
    await iterator.return?.();
    const message = `agent ${agentId} has no file ${artifactId}`;
    throw new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message);
  }
  async function* body(): AsyncIterable<Uint8Array> {
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        if (next.value.part.case === "chunk") yield next.value.part.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  const header = new Headers({
    "content-type": artifact.mediaType,
    "content-length": String(artifact.sizeBytes),
    // A file of an agent is not a page of this site.
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(artifact.name)}`,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  return { status: 200, header, body: body() };
}

async function isOfTask(
  api: GatewayApi,
  agentId: string,
  runId: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (runId === "") return false;
  const { run } = await api.runs.getRun({ runId }, { signal });
  return run?.agentId === agentId && run.labels[taskLabel] !== undefined;
}
