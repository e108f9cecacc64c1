import { createHash, randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ArtifactDraft } from "./artifact-store.ts";

/** Returns the id of the artifact of a draft: derived from the idempotency key, or random. */
export function artifactIdOf(tenant: string, { idempotencyKey }: ArtifactDraft): string {
  const id =
    idempotencyKey === undefined
      ? randomBytes(16)
      : createHash("sha256").update(`${tenant}\n${idempotencyKey}`).digest().subarray(0, 16);
  return `art_${id.toString("hex")}`;
}

/** Returns whether a text has the form of an artifact id. */
export function isArtifactId(text: string): boolean {
  return /^art_[0-9a-f]{32}$/.test(text);
}

/** The description of stored bytes. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly createdAt: Date;
}

/** Returns the artifact of a draft whose bytes are stored. */
export function artifactOf(
  artifactId: string,
  { name, mediaType, runId }: ArtifactDraft,
  { sizeBytes, sha256, createdAt }: StoredBytes,
): Artifact {
  return create(ArtifactSchema, {
    artifactId,
    name,
    mediaType: mediaType === "" ? "application/octet-stream" : mediaType,
    runId,
    sizeBytes,
    sha256,
    createdAt: timestampFromDate(createdAt),
  });
}

export function artifactNotFound(artifactId: string): Failure {
  const message = `artifact ${artifactId} not found; list the artifacts for their ids`;
  return new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message, {
    metadata: { artifact_id: artifactId },
  });
}

/** Orders artifacts by age, oldest first. */
export function byAge(a: Artifact, b: Artifact): number {
  const [first, second] = [a.createdAt?.seconds ?? 0n, b.createdAt?.seconds ?? 0n];
  if (first !== second) return first < second ? -1 : 1;
  const nanos = (a.createdAt?.nanos ?? 0) - (b.createdAt?.nanos ?? 0);
  if (nanos !== 0) return nanos;
  return a.artifactId < b.artifactId ? -1 : 1;
}
