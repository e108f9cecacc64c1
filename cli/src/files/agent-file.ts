import { readFile } from "node:fs/promises";
import type { AgentSpec } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Reads an agent spec from a YAML or JSON file. Throws a Failure that lists everything that is wrong with it. */
export async function readAgentFile(path: string): Promise<AgentSpec> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `${path} cannot be read`, { cause });
  });
  // Most commands read no agent file, and start faster without the parser.
  const { parseSpecFile } = await import("@reeve/agent/spec/spec-file");
  return parseSpecFile(text, path);
}

/** Returns an agent spec as YAML. */
export async function formatAgentFile(spec: AgentSpec): Promise<string> {
  const { formatSpec } = await import("@reeve/agent/spec/spec-file");
  return formatSpec(spec, "yaml");
}
