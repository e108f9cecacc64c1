import { createHash, randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
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

/** Counts and digests bytes on their way, and refuses more than `maxBytes`. */
export class Measure {
  readonly #maxBytes: number;
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > this.#maxBytes) {
      throw new Failure(
        "exhausted",
        ErrorReason.TOO_LARGE,
        `a file may have ${this.#maxBytes} bytes; this one has more`,
      );
    }
    this.#hash.update(chunk);
  }

  /** The description of what went through. */
  describe(artifactId: string, { name, mediaType, runId }: ArtifactDraft): Artifact {
    return create(ArtifactSchema, {
      artifactId,
      name,
      mediaType: mediaType === "" ? "application/octet-stream" : mediaType,
      runId,
      sizeBytes: this.#sizeBytes,
      sha256: this.#hash.digest("hex"),
      createdAt: timestampNow(),
    });
  }
}

export function noSuchArtifact(artifactId: string): Failure {
  const message = `there is no artifact ${artifactId}`;
  return new Failure("not_found", ErrorReason.ARTIFACT_NOT_FOUND, message);
}

/** Oldest first. */
export function byAge(a: Artifact, b: Artifact): number {
  const [first, second] = [a.createdAt?.seconds ?? 0n, b.createdAt?.seconds ?? 0n];
  if (first !== second) return first < second ? -1 : 1;
  return (a.createdAt?.nanos ?? 0) - (b.createdAt?.nanos ?? 0);
}
