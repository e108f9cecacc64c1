import { open } from "node:fs/promises";
import { join } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { SecretKey, SecretSource } from "./secret-source.ts";
import { maxSecretLength } from "./secret-source.ts";

/**
 * The secrets in `<folder>/<tenant>/<name>`, such as a mounted secret of Kubernetes. Each use reads the file, so a change is in
 * force at once. One line break at the end is not part of the value.
 */
export function folderSecrets(folder: string): SecretSource {
  const pathOf = ({ tenant, name }: SecretKey) => join(folder, tenant, name);
  return {
    read: async (key) => {
      const text = await textOf(pathOf(key));
      return text?.replace(/\r?\n$/, "");
    },
    placeOf: (key) => `the file ${pathOf(key)}`,
  };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const bytes = Buffer.alloc(maxSecretLength + 1);
    // A file of a secret has one page or two, which one read returns. The link may lead to a new file meanwhile, not this one.
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    if (bytesRead > maxSecretLength)
      throw unusable(path, `is larger than ${maxSecretLength} bytes`);
    return bytes.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw unusable(path, `cannot be read: ${code}`);
  }
}

function unusable(path: string, problem: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, `the file ${path} ${problem}`);
}
