import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { link, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Writes a new file. It appears under its name only when it is complete. Throws a Failure if the file exists. */
export async function saveNewFile(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await save(
    chunks,
    path,
    async (partial) => {
      try {
        // Unlike a renaming, a link replaces nothing.
        await link(partial, path);
      } catch (error) {
        const isTaken = error instanceof Error && "code" in error && error.code === "EEXIST";
        if (!isTaken) throw error;
        const message = `${path} exists; choose another file with --output, or replace it with --force`;
        throw new Failure("exists", ErrorReason.INVALID_REQUEST, message, { cause: error });
      }
      await rm(partial);
    },
    signal,
  );
}

/** Writes a file, and replaces an existing one. It appears under its name only when it is complete. */
export async function saveFile(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await save(chunks, path, (partial) => rename(partial, path), signal);
}

async function save(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  publish: (partial: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${path}.${randomBytes(4).toString("hex")}.part`;
  try {
    await pipeline(chunks, createWriteStream(partial, { flags: "wx" }), { signal });
    await publish(partial);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
