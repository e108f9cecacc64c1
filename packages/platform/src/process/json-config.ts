import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { z } from "zod";

/** Reads a JSON file that a setting names. Throws a Failure with all problems of the file at once. */
export async function readJsonConfig<Config>(
  setting: string,
  path: string,
  schema: z.ZodType<Config>,
): Promise<Config> {
  const parsed = schema.safeParse(parseJson(setting, path, await textOf(setting, path)));
  if (parsed.success) return parsed.data;
  throw invalidConfig(setting, `${path} ${z.prettifyError(parsed.error)}`);
}

/** Returns the Failure for an invalid setting. */
export function invalidConfig(setting: string, problem: string, cause?: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, `${setting}: ${problem}`, { cause });
}

async function textOf(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw invalidConfig(setting, `${path} cannot be read`, cause);
  }
}

function parseJson(setting: string, path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidConfig(setting, `${path} is not JSON`, cause);
  }
}
