import { readFile } from "node:fs/promises";
import type { Agent, AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { Failure } from "@reeve/platform/failure";
import type { Reeve } from "./client.ts";

/** What became of an agent that was applied. */
export interface Applied {
  readonly agentId: string;
  readonly revision: number;
  readonly did: "created" | "updated";
  readonly warnings: readonly string[];
}

/** Reads a spec from a YAML or JSON file. Throws a Failure that lists everything that is wrong with it. */
export async function readSpec(path: string): Promise<AgentSpec> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `${path} cannot be read`, { cause });
  });
  // Loaded only here: most commands read no file, and start sooner without the parser.
  const { parseSpecFile } = await import("@reeve/agent/spec/spec-file");
  return parseSpecFile(text, path);
}

/** The spec as a YAML file. */
export async function printSpec(spec: AgentSpec): Promise<string> {
  const { formatSpec } = await import("@reeve/agent/spec/spec-file");
  return formatSpec(spec, "yaml");
}

/** Stores an agent: creates it, or replaces the one of the same id. */
export async function applyAgent(
  { agents }: Pick<Reeve, "agents">,
  spec: AgentSpec,
  signal: AbortSignal,
): Promise<Applied> {
  try {
    const { agent, warnings } = await agents.createAgent({ spec }, { signal });
    return applied(agent, "created", warnings);
  } catch (error) {
    if (failureFrom(error).reason !== ErrorReason.AGENT_EXISTS) throw error;
  }
  const { agent, warnings } = await agents.updateAgent({ spec }, { signal });
  return applied(agent, "updated", warnings);
}

function applied(
  agent: Agent | undefined,
  did: Applied["did"],
  warnings: readonly string[],
): Applied {
  return { agentId: agent?.spec?.id ?? "", revision: agent?.revision ?? 0, did, warnings };
}
