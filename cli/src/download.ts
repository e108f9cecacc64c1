import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Artifact } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Reeve } from "./client.ts";

/** A download: what the file is, then its bytes. */
export interface Download {
  readonly artifact: Artifact;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export async function openDownload(
  reeve: Pick<Reeve, "artifacts">,
  artifactId: string,
  signal: AbortSignal,
): Promise<Download> {
  const stream = reeve.artifacts.downloadArtifact({ artifactId }, { signal });
  const messages = stream[Symbol.asyncIterator]();
  const first = await messages.next();
  if (first.done === true || first.value.part.case !== "artifact") {
    throw new Failure(
      "internal",
      ErrorReason.INTERNAL,
      `artifact ${artifactId} has no description`,
    );
  }
  return { artifact: first.value.part.value, chunks: chunksOf(messages) };
}

/** Writes a download to a file. Nothing is to be seen under the name before all of it is there. */
export async function saveDownload(
  { chunks }: Download,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await saveChunks(chunks, path, signal);
}

/** The same for bytes that come from elsewhere. */
export async function saveChunks(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${path}.part`;
  try {
    await pipeline(chunks, createWriteStream(partial), { signal });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function* chunksOf(
  messages: AsyncIterator<{
    readonly part: { readonly case?: string | undefined; readonly value?: unknown };
  }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
    const { value } = next.value.part;
    if (value instanceof Uint8Array) yield value;
  }
}
