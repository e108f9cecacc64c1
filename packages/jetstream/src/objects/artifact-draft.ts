import { createHash, randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { listViolations } from "@reeve/platform/list-violations";
import type { ArtifactDraft } from "./artifact-store.ts";

/** Returns the id of the artifact of a draft: derived from the idempotency key, or random. */
export function artifactIdOf(tenant: string, { idempotencyKey }: ArtifactDraft): string {
  const id =
    idempotencyKey === undefined
      ? randomBytes(16)
      : createHash("sha256").update(`${tenant}\n${idempotencyKey}`).digest().subarray(0, 16);
  return `art_${id.toString("hex")}`;
}

/** Returns the idempotency key of a file that a run produces under a key of its own. */
export function runFileKey(runId: string, key: string): string {
  return `${runId}/${key}`;
}

/** Control characters, separators of lines, and marks that change the direction of text. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
/** A media type with parameters, in printable ASCII. */
const mediaTypes = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;[\x20-\x7e]*)?$/;

/** Throws a Failure if the name of a draft is not that of a file, or could hide what it is, or if its media type is malformed. */
export function assertDraft(draft: ArtifactDraft): void {
  const violations = draftViolations(draft, "header");
  if (violations.length === 0) return;
  const message = `the artifact is not valid: ${listViolations(violations)}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}

/** Returns what is wrong with the name and the media type of a draft, which are in the message at `field`. */
export function draftViolations(
  { name, mediaType }: Pick<ArtifactDraft, "name" | "mediaType">,
  field: string,
): readonly Violation[] {
  const violations: Violation[] = [];
  if (name === "." || name === ".." || /[/\\]/.test(name) || invisible.test(name)) {
    const description =
      "is not the name of a file: use no control characters, slashes, or marks of text direction";
    violations.push({ field: `${field}.name`, description, reason: "MALFORMED" });
  }
  if (mediaType !== "" && !mediaTypes.test(mediaType)) {
    const description = "is not a media type, such as text/plain";
    violations.push({ field: `${field}.media_type`, description, reason: "MALFORMED" });
  }
  return violations;
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
  { name, mediaType, runId, createdBy = "" }: ArtifactDraft,
  { sizeBytes, sha256, createdAt }: StoredBytes,
): Artifact {
  return create(ArtifactSchema, {
    artifactId,
    name,
    mediaType: mediaType === "" ? "application/octet-stream" : mediaType,
    runId,
    createdBy,
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
