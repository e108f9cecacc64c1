import type { Artifact } from "@reeve/contracts/artifact";

/** The description of a file before its bytes are stored. */
export interface ArtifactDraft {
  readonly name: string;
  readonly mediaType: string;
  /** The run that creates it; empty for an upload. */
  readonly runId: string;
  /** Who uploads it, or started the run. Empty: unknown. */
  readonly createdBy?: string;
  /**
   * The id of the artifact is derived from it: the same key of the same tenant always names the same artifact, and storing it
   * again changes nothing. If absent, the artifact gets a new id.
   */
  readonly idempotencyKey?: string;
}

/** Files that outlive a sandbox, by tenant. */
export interface ArtifactStore {
  /**
   * Stores a file, which becomes visible only when all of it is stored. Throws a Failure: `exhausted` when the file is larger
   * than the limit of the store or the store is full, `unavailable` when the store does not answer.
   */
  put(
    tenant: string,
    draft: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Artifact>;
  get(tenant: string, artifactId: string, signal: AbortSignal): Promise<Artifact | undefined>;
  /**
   * As `get`, for an artifact that was stored: a server that does not have it yet gets time to receive it. Undefined: it was
   * deleted.
   */
  getStored(tenant: string, artifactId: string, signal: AbortSignal): Promise<Artifact | undefined>;
  /**
   * Yields the bytes in chunks, of an artifact that was stored, as with `getStored`. Throws a Failure of kind `not_found` when the
   * artifact does not exist.
   */
  read(tenant: string, artifactId: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Deletes an artifact. Returns whether it existed. Repeating it completes a deletion that was interrupted. */
  delete(tenant: string, artifactId: string, signal: AbortSignal): Promise<boolean>;
  /** Returns all artifacts of the tenant, oldest first. */
  list(tenant: string, signal: AbortSignal): Promise<readonly Artifact[]>;
}
