import { ErrorReason } from "@reeve/contracts/error";
import type { AddDocumentRequest, Document } from "@reeve/contracts/extensions/knowledge";
import { assertDocumentFits } from "@reeve/knowledge/collection-editor";
import type { KnowledgeUser } from "@reeve/knowledge/collections";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "../gateway-ports.ts";

type Ports = Pick<GatewayPorts, "knowledge" | "artifacts" | "assertRoom">;

/** Adds a document to a collection, from the request or from an artifact. */
export async function addDocument(
  ports: Ports,
  user: KnowledgeUser,
  { collectionId, name, mediaType, source }: AddDocumentRequest,
  signal: AbortSignal,
): Promise<Document> {
  ports.assertRoom();
  // Before an artifact is read.
  await ports.knowledge.assertMayChange(user, collectionId, signal);
  const draft =
    source.case === "artifactId"
      ? await ofArtifact(ports, user, { artifactId: source.value, name, mediaType }, signal)
      : { bytes: source.value ?? new Uint8Array(), mediaType };
  return await ports.knowledge.addDocument(user, collectionId, { name, ...draft }, signal);
}

interface ArtifactSource {
  readonly artifactId: string;
  readonly name: string;
  readonly mediaType: string;
}

async function ofArtifact(
  { artifacts }: Ports,
  { tenant }: KnowledgeUser,
  { artifactId, name, mediaType }: ArtifactSource,
  signal: AbortSignal,
) {
  const artifact = await artifacts.get(tenant, artifactId, signal);
  if (artifact === undefined) {
    const message = `artifact ${artifactId} not found; list the artifacts for their ids`;
    throw new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message, {
      metadata: { artifact_id: artifactId },
    });
  }
  assertDocumentFits(name, artifact.sizeBytes);
  const bytes = Buffer.concat(await Array.fromAsync(artifacts.read(tenant, artifactId, signal)));
  return { bytes, mediaType: mediaType === "" ? artifact.mediaType : mediaType };
}
