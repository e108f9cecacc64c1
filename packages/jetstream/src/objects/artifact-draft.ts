import { createHash, randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ArtifactDraft } from "./artifact-store.ts";

/** The id of the artifact that a draft becomes. */
export function artifactIdOf(tenant: string, { idempotencyKey }: ArtifactDraft): string {
  const id =
    idempotencyKey === undefined
      ? randomBytes(16)
      : createHash("sha256").update(`${tenant}\n${idempotencyKey}`).digest().subarray(0, 16);
  return `art_${id.toString("hex")}`;
}

/** Whether an artifact could have this id. */
export function isArtifactId(text: string): boolean {
  return /^art_[0-9a-f]{32}$/.test(text);
}

/** What is known of the bytes of a file once they are stored. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly createdAt: Date;
}

/** The artifact that a draft became. */
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
  const message = `there is no artifact ${artifactId}`;
  return new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message, {
    metadata: { artifact_id: artifactId },
  });
}

/** Oldest first. */
export function byAge(a: Artifact, b: Artifact): number {
  const [first, second] = [a.createdAt?.seconds ?? 0n, b.createdAt?.seconds ?? 0n];
  if (first !== second) return first < second ? -1 : 1;
  const nanos = (a.createdAt?.nanos ?? 0) - (b.createdAt?.nanos ?? 0);
  if (nanos !== 0) return nanos;
  return a.artifactId < b.artifactId ? -1 : 1;
}
