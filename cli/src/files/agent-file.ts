import { readFile } from "node:fs/promises";
import type { AgentSpec } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { Terminal } from "../terminal.ts";

/** An agent spec as far as a file describes one, and everything that is wrong with the shape of the file. */
export interface AgentFile {
  readonly spec: AgentSpec;
  readonly violations: readonly Violation[];
}

/** Reads an agent spec from a YAML or JSON file. Throws a Failure that lists everything that is wrong with its shape. */
export async function readAgentFile(path: string): Promise<AgentSpec> {
  const { spec, violations } = await openAgentFile(path);
  if (violations.length > 0) throw await malformed(path, violations);
  return spec;
}

/**
 * Reads an agent spec from a YAML or JSON file, or from standard input if `path` is `-`. Throws a Failure if it cannot be read or
 * is no mapping of fields.
 */
export async function openAgentFile(
  path: string,
  terminal?: Pick<Terminal, "read">,
): Promise<AgentFile> {
  if (path === "-" && terminal !== undefined) {
    return await parsed(await terminal.read(), "standard input");
  }
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `${path} cannot be read`, { cause });
  });
  return await parsed(text, path);
}

async function parsed(text: string, name: string): Promise<AgentFile> {
  // Most commands read no agent file, and start faster without the parser.
  const { readSpecFile } = await import("@reeve/agent/spec/spec-file");
  const { message, violations } = readSpecFile(text, name);
  return { spec: message, violations };
}

/** Returns the Failure for a file with these violations. */
export async function malformed(path: string, violations: readonly Violation[]): Promise<Failure> {
  const { malformedSpecFile } = await import("@reeve/agent/spec/spec-file");
  return malformedSpecFile(path, violations);
}

/** Returns an agent spec as YAML. */
export async function formatAgentFile(spec: AgentSpec): Promise<string> {
  const { formatSpec } = await import("@reeve/agent/spec/spec-file");
  return formatSpec(spec, "yaml");
}
