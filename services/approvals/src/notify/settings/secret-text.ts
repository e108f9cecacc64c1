import { open } from "node:fs/promises";
import type { Environment } from "@reeve/platform/config";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { z } from "zod";

/** The longest secret, in bytes. */
const maxBytes = 65_536;

/** Says where a secret is: settings never contain it. */
export const secretReference = z.union(
  [
    z.strictObject({ file: z.string().startsWith("/", "must be an absolute path") }),
    z.strictObject({ environment: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
  ],
  "must be `file: /path` or `environment: NAME`",
);

type SecretReference = z.infer<typeof secretReference>;

/** Reads a secret when it is used. Throws a Failure that says where it should be, and never contains it. */
export type ReadSecret = (reference: SecretReference) => Promise<string>;

/**
 * Returns what reads secrets from files and from `environment`. A file is read again for each use, so that a change is in force
 * at once; white space around its text is not part of the secret. Each value is added to `redaction`.
 */
export function secretReader(
  environment: Environment,
  redaction: Pick<Redaction, "add">,
): ReadSecret {
  return async (reference) => {
    const [place, text] =
      "file" in reference
        ? [`the file ${reference.file}`, await textOf(reference.file)]
        : [
            `the variable ${reference.environment} of the environment`,
            environment[reference.environment] ?? "",
          ];
    const secret = text.trim();
    if (secret === "") throw unusable(`${place} is missing or empty`);
    for (const each of new Set([secret, ...secret.split(/\s+/)])) redaction.add(each);
    return secret;
  };
}

async function textOf(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const bytes = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    if (bytesRead > maxBytes) throw unusable(`the file ${path} has more than ${maxBytes} bytes`);
    return bytes.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    throw unusable(`the file ${path} cannot be read: ${code}`);
  }
}

function unusable(message: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
