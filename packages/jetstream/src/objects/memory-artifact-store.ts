import { createHash } from "node:crypto";
import { clone } from "@bufbuild/protobuf";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import {
  artifactIdOf,
  artifactOf,
  byAge,
  artifactNotFound,
  assertDraft,
} from "./artifact-draft.ts";
import type { ArtifactDraft, ArtifactStore } from "./artifact-store.ts";
import { limitedContent } from "./limited-content.ts";

/** Files in memory, which end with the process. A file has at most `maxBytes`. */
export class MemoryArtifactStore implements ArtifactStore {
  readonly #maxBytes: number;
  readonly #files = new Map<string, { artifact: Artifact; bytes: Uint8Array }>();

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  async put(
    tenant: string,
    draft: ArtifactDraft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Artifact> {
    assertDraft(draft);
    const artifactId = artifactIdOf(tenant, draft);
    const known = await this.get(tenant, artifactId, signal);
    if (known !== undefined) return known;
    const chunks: Uint8Array[] = [];
    for await (const chunk of limitedContent(content, this.#maxBytes, signal)) chunks.push(chunk);
    // Another writer may have been first meanwhile. Nothing is awaited between this check and the write.
    const first = this.#files.get(`${tenant}/${artifactId}`);
    if (first !== undefined) return clone(ArtifactSchema, first.artifact);
    const bytes = Buffer.concat(chunks);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const stored = { sizeBytes: bytes.length, sha256, createdAt: new Date() };
    const artifact = artifactOf(artifactId, draft, stored);
    this.#files.set(`${tenant}/${artifactId}`, { artifact, bytes });
    return clone(ArtifactSchema, artifact);
  }

  async get(
    tenant: string,
    artifactId: string,
    signal: AbortSignal,
  ): Promise<Artifact | undefined> {
    signal.throwIfAborted();
    await Promise.resolve();
    const file = this.#files.get(`${tenant}/${artifactId}`);
    return file && clone(ArtifactSchema, file.artifact);
  }

  getStored(
    tenant: string,
    artifactId: string,
    signal: AbortSignal,
  ): Promise<Artifact | undefined> {
    return this.get(tenant, artifactId, signal);
  }

  async *read(tenant: string, artifactId: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const file = this.#files.get(`${tenant}/${artifactId}`);
    if (file === undefined) throw artifactNotFound(artifactId);
    if (file.bytes.length > 0) yield Uint8Array.from(file.bytes);
  }

  async delete(tenant: string, artifactId: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    await Promise.resolve();
    return this.#files.delete(`${tenant}/${artifactId}`);
  }

  async list(tenant: string, signal: AbortSignal): Promise<readonly Artifact[]> {
    signal.throwIfAborted();
    await Promise.resolve();
    return [...this.#files]
      .filter(([name]) => name.startsWith(`${tenant}/`))
      .map(([, { artifact }]) => clone(ArtifactSchema, artifact))
      .toSorted(byAge);
  }
}
