import { readFile, stat } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Reads a text of at most `maxBytes`. Throws a Failure if there is no such file, or if it is larger. */
export async function readSmallFile(path: string, maxBytes: number): Promise<string> {
  const size = await sizeOf(path);
  if (size > maxBytes) throw invalid(`${path} has ${size} bytes, more than ${maxBytes}`);
  return await readFile(path, "utf8").catch((cause: unknown) => {
    throw invalid(`${path} cannot be read`, cause);
  });
}

/** Returns the size of a file. Throws a Failure if there is none. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw invalid(`${path} does not exist`);
  if (!found.isFile()) throw invalid(`${path} is not a file`);
  return found.size;
}

function invalid(message: string, cause?: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
