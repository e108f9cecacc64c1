import type { Artifact } from "@reeve/contracts/artifact";
import { artifactIdOf, byAge, Measure, noSuchArtifact } from "./artifact-draft.ts";
import type { ArtifactDraft, ArtifactStore } from "./artifact-store.ts";

/** Files in memory. Gone with the process. */
export class MemoryArtifactStore implements ArtifactStore {
  readonly #maxBytes: number;
  readonly #files = new Map<string, { artifact: Artifact; chunks: readonly Uint8Array[] }>();

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  async put(
    tenant: string,
    draft: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Artifact> {
    const artifactId = artifactIdOf(tenant, draft);
    const known = await this.get(tenant, artifactId, signal);
    if (known !== undefined) return known;
    const measure = new Measure(this.#maxBytes);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) {
      signal.throwIfAborted();
      measure.add(chunk);
      chunks.push(chunk);
    }
    const artifact = measure.describe(artifactId, draft);
    this.#files.set(`${tenant}/${artifactId}`, { artifact, chunks });
    return artifact;
  }

  async get(
    tenant: string,
    artifactId: string,
    signal: AbortSignal,
  ): Promise<Artifact | undefined> {
    signal.throwIfAborted();
    await Promise.resolve();
    return this.#files.get(`${tenant}/${artifactId}`)?.artifact;
  }

  async *read(tenant: string, artifactId: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const file = this.#files.get(`${tenant}/${artifactId}`);
    if (file === undefined) throw noSuchArtifact(artifactId);
    yield* file.chunks;
  }

  async list(tenant: string, signal: AbortSignal): Promise<readonly Artifact[]> {
    signal.throwIfAborted();
    await Promise.resolve();
    return [...this.#files]
      .filter(([name]) => name.startsWith(`${tenant}/`))
      .map(([, { artifact }]) => artifact)
      .toSorted(byAge);
  }
}
