import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** Writes a file. It appears under its name only when it is complete. */
export async function saveFile(
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
