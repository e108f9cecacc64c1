import { ErrorReason } from "@reeve/contracts/error";
import type {
  Artifact,
  ArtifactHeader,
  DownloadArtifactResponse,
  ListArtifactsRequest,
  UploadArtifactRequest,
} from "@reeve/contracts/artifact";
import { DownloadArtifactResponseSchema } from "@reeve/contracts/artifact";
import { create } from "@bufbuild/protobuf";
import { Failure } from "@reeve/platform/failure";
import { isStoredSkill } from "@reeve/agent/skills/skill";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Page } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "./gateway-ports.ts";

/** The maximum size of a chunk of a download, in bytes. */
const chunkBytes = 256 * 1024;

type StorePorts = Pick<GatewayPorts, "artifacts" | "artifactQuotas">;

/** Stores an artifact from a client's stream: the header first, then the chunks. */
export async function uploadArtifact(
  ports: StorePorts,
  principal: Principal,
  requests: AsyncIterable<UploadArtifactRequest>,
  signal: AbortSignal,
): Promise<Artifact> {
  const parts = requests[Symbol.asyncIterator]();
  const first = await parts.next();
  if (first.done === true || first.value.part.case !== "header") {
    throw malformed("the upload does not start with a header; send the header first");
  }
  const header = first.value.part.value;
  async function* chunks(): AsyncIterable<Uint8Array> {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      const { part } = next.value;
      if (part.case !== "chunk") {
        throw malformed(
          "the upload has a message that is not a chunk; send one header, then chunks",
        );
      }
      yield part.value;
    }
  }
  return await storeArtifact(ports, principal, header, chunks(), signal);
}

/** Stores an artifact. Throws a Failure with reason QUOTA_EXCEEDED if a quota of the principal has no room for it. */
export async function storeArtifact(
  { artifacts, artifactQuotas }: StorePorts,
  principal: Principal,
  { name, mediaType }: ArtifactHeader,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Artifact> {
  const draft = { name, mediaType, runId: "", createdBy: principal.subject };
  return await artifactQuotas.store(
    principal,
    content,
    (counted) => artifacts.put(principal.tenant, draft, counted, signal),
    signal,
  );
}

/** Yields an artifact: its description first, then its content in chunks. */
export async function* downloadArtifact(
  artifacts: ArtifactStore,
  tenant: string,
  artifactId: string,
  signal: AbortSignal,
): AsyncIterable<DownloadArtifactResponse> {
  // An id that is not valid in a key cannot exist.
  const artifact = /^art_[a-z0-9]{16,64}$/.test(artifactId)
    ? await artifacts.get(tenant, artifactId, signal)
    : undefined;
  if (artifact === undefined) {
    const message = `artifact ${artifactId} not found; list the artifacts for their ids`;
    throw new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message, {
      metadata: { artifact_id: artifactId },
    });
  }
  yield create(DownloadArtifactResponseSchema, { part: { case: "artifact", value: artifact } });
  for await (const piece of artifacts.read(tenant, artifactId, signal)) {
    for (let from = 0; from < piece.length; from += chunkBytes) {
      const value = piece.subarray(from, from + chunkBytes);
      yield create(DownloadArtifactResponseSchema, { part: { case: "chunk", value } });
    }
  }
}

/** Returns a page of a tenant's artifacts, oldest first, without the skills that runtimes have stored. */
export async function listArtifacts(
  artifacts: ArtifactStore,
  tenant: string,
  request: ListArtifactsRequest,
  signal: AbortSignal,
): Promise<Page<Artifact>> {
  const all = await artifacts.list(tenant, signal);
  const matching = all.filter(
    (each) => !isStoredSkill(each) && (request.runId === "" || each.runId === request.runId),
  );
  return pageOf(matching, request, keyOf, (key, previous) => key > previous);
}

/** The store's own order: by creation time, then by id. */
function keyOf({ createdAt, artifactId }: Artifact): string {
  const { seconds = 0n, nanos = 0 } = createdAt ?? {};
  return `${String(seconds).padStart(12, "0")}.${String(nanos).padStart(9, "0")}.${artifactId}`;
}

function malformed(message: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
