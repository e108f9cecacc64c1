import { ErrorReason } from "@reeve/contracts/error";
import type { AddDocumentRequest } from "@reeve/contracts/extensions/knowledge";
import type { AddedDocument } from "@reeve/knowledge/documents/document-adder";
import type { KnowledgeUser } from "@reeve/knowledge/collections";
import { assertDocumentFits } from "@reeve/knowledge/records/knowledge-limits";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "../gateway-ports.ts";
import { addFetched } from "./add-fetched.ts";

const maxDiscardMs = 30_000;

type Ports = Pick<GatewayPorts, "knowledge" | "documents" | "artifacts" | "assertRoom">;

/** Adds a document to a collection, from the request, from an artifact, or from a URL. */
export async function addDocument(
  ports: Ports,
  user: KnowledgeUser,
  request: AddDocumentRequest,
  signal: AbortSignal,
): Promise<AddedDocument> {
  const { collectionId, name, mediaType, source, discardArtifact } = request;
  const { knowledge } = ports;
  ports.assertRoom();
  if (source.case === "url") {
    // Nobody fetches for a collection that they cannot change.
    await knowledge.assertMayChange(user, collectionId, signal);
    const address = { tenant: user.tenant, url: source.value, mediaType };
    return await ports.documents.fetch(
      address,
      (found) => addFetched(knowledge, user, { collectionId, name }, found, signal),
      signal,
    );
  }
  if (source.case !== "artifactId") {
    const read = async () => source.value ?? new Uint8Array();
    return await knowledge.addDocument(user, collectionId, { name, mediaType, read }, signal);
  }
  // Before anything of the artifact is told.
  await knowledge.assertMayChange(user, collectionId, signal);
  const artifact = await ofArtifact(ports, user, request, source.value, signal);
  try {
    const added = await knowledge.addDocument(user, collectionId, artifact, signal);
    if (discardArtifact) await discard(ports, user, source.value);
    return added;
  } catch (error) {
    // A repetition of what may succeed later needs it.
    if (discardArtifact && isFinal(error, signal)) await discard(ports, user, source.value);
    throw error;
  }
}

function isFinal(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof Failure && error.kind !== "unavailable");
}

/** Deletes an upload, whether or not the caller left. The document counts, not what is left of its upload. */
async function discard(
  { artifacts }: Ports,
  { tenant }: KnowledgeUser,
  artifactId: string,
): Promise<void> {
  const limit = AbortSignal.timeout(maxDiscardMs);
  await artifacts.delete(tenant, artifactId, limit).catch(() => undefined);
}

async function ofArtifact(
  { artifacts }: Ports,
  { tenant, subject }: KnowledgeUser,
  { name, mediaType, discardArtifact }: AddDocumentRequest,
  artifactId: string,
  signal: AbortSignal,
) {
  const artifact = await artifacts.get(tenant, artifactId, signal);
  if (artifact === undefined) {
    const message = `artifact ${artifactId} not found; list the artifacts for their ids`;
    throw new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message, {
      metadata: { artifact_id: artifactId },
    });
  }
  if (discardArtifact && (artifact.createdBy !== subject || artifact.runId !== "")) {
    const message = `artifact ${artifactId} is not an upload of yours; leave discard_artifact out`;
    throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message, {
      metadata: { artifact_id: artifactId },
    });
  }
  assertDocumentFits(name, artifact.sizeBytes);
  return {
    name,
    mediaType: mediaType === "" ? artifact.mediaType : mediaType,
    read: async (until: AbortSignal) =>
      Buffer.concat(await Array.fromAsync(artifacts.read(tenant, artifactId, until))),
  };
}
