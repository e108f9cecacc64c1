import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Content } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A file on this machine, and its name in the workspace of a run. */
export interface LocalFile {
  readonly path: string;
  readonly name: string;
}

/** Files up to this size are read at once. */
const maxInMemory = 1_048_576;

/** Parses `path` or `path=name`. The default name is the file name. */
export function parseLocalFile(text: string): LocalFile {
  const separator = text.lastIndexOf("=");
  if (separator <= 0) return { path: text, name: basename(text) };
  const path = text.slice(0, separator);
  return { path, name: text.slice(separator + 1) || basename(path) };
}

/** Returns the content of a local file; that of a large file as a stream. Throws a Failure if it is not a readable file. */
export async function readLocalFile(path: string): Promise<Content> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw invalidFile(`${path} does not exist`);
  if (!found.isFile()) throw invalidFile(`${path} is not a file`);
  // A stream without an encoding yields buffers.
  if (found.size > maxInMemory) return createReadStream(path) as AsyncIterable<Buffer>;
  return await readFile(path).catch((cause: unknown) => {
    throw invalidFile(`${path} cannot be read`, cause);
  });
}

function invalidFile(message: string, cause?: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
