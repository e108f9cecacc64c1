import type { Artifact } from "@reeve/contracts/artifact";

/** What is known of a file before its bytes. */
export interface ArtifactDraft {
  readonly name: string;
  readonly mediaType: string;
  /** The run that makes it; empty for an upload. */
  readonly runId: string;
  /**
   * Derives the id of the artifact: the same key of the same tenant always names the same artifact, and storing it again
   * changes nothing. Absent: a new id.
   */
  readonly idempotencyKey?: string;
}

/** Files that outlive a sandbox, by tenant. */
export interface ArtifactStore {
  /**
   * Stores a file. Nothing of it is to be seen before all of it is stored. Throws a Failure: `exhausted` when it is larger
   * than `maxBytes` or the store is full, `unavailable` when the store does not answer.
   */
  put(
    tenant: string,
    draft: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Artifact>;
  get(tenant: string, artifactId: string, signal: AbortSignal): Promise<Artifact | undefined>;
  /** The bytes, in chunks. Throws a Failure of kind `not_found` when there is no such artifact. */
  read(tenant: string, artifactId: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** All artifacts of the tenant, oldest first. */
  list(tenant: string, signal: AbortSignal): Promise<readonly Artifact[]>;
}
