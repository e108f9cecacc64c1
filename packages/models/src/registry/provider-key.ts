import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import type { Environment } from "@reeve/platform/config";
import { Failure } from "@reeve/platform/failure";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { z } from "zod";

/** Where the key of a server comes from. */
export const keySource = {
  api_key: z
    .string()
    .regex(
      /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
      "must be ${NAME}, with the name of an environment variable",
    )
    .optional()
    .describe("Environment variable with the key, as ${NAME}."),
  api_key_file: z.string().min(1).optional().describe("File with the key."),
};

interface KeySource {
  readonly api_key?: string | undefined;
  readonly api_key_file?: string | undefined;
}

/** Whether at most one source is given. */
export function hasOneSource({ api_key: key, api_key_file: file }: KeySource): boolean {
  return key === undefined || file === undefined;
}

/**
 * Returns the key of a server, which logs redact from then on. Servers without keys ignore it, and the clients of all APIs require one.
 * Throws a Failure with the name of its `owner`, such as `provider proxy`, if it cannot be read.
 */
export async function readKey(
  owner: string,
  { api_key: reference, api_key_file: file }: KeySource,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  if (reference === undefined && file === undefined) return noKey;
  const key =
    file === undefined
      ? environment[reference?.slice(2, -1) ?? ""]
      : await readFile(file, { encoding: "utf8", signal }).catch((cause: unknown) => {
          signal.throwIfAborted();
          throw invalid(owner, `${file} cannot be read`, cause);
        });
  const trimmed = key?.trim() ?? "";
  if (trimmed === "") {
    throw invalid(
      owner,
      file === undefined ? `the environment has no ${reference?.slice(2, -1)}` : `${file} is empty`,
    );
  }
  // The client's error for such a header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(trimmed))
    throw invalid(owner, "the key has characters that no key has");
  processRedaction.keep(trimmed);
  return trimmed;
}

/** What stands for the key of a server without one. */
export const noKey = "none";

function invalid(owner: string, problem: string, cause?: unknown): Failure {
  const message = `REEVE_MODELS: ${owner}: ${problem}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
