import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxProgram } from "../port.ts";

/** Source of our own Python programs, which run inside the sandbox. Shared parts come first. */
export const programs = {
  execute_code: programOf("execute_code"),
  workspace_files: programOf("workspace_paths", "workspace_drafts", "workspace_files"),
  workspace_search: programOf("workspace_paths", "workspace_globs", "workspace_search"),
  workspace_entries: programOf("workspace_paths", "workspace_entries"),
  workspace_archive: programOf("workspace_paths", "workspace_archive"),
} as const satisfies Record<SandboxProgram, string>;

/** Source of the agent, the first process of a sandbox, which runs all commands. */
export const agentProgram = programOf(
  "agent_host",
  "agent_cleanup",
  "agent_network",
  "agent_calls",
  "agent",
);

/** Source of the program that a sandbox runs until it receives the agent. */
export const bootstrapProgram = programOf("bootstrap");

/** Source of the program that starts sandboxes for a toolhost. It runs on the host. */
export const spawnerProgram = programOf("spawner");

function programOf(...parts: readonly string[]): string {
  return parts
    .map((part) => readFileSync(join(import.meta.dirname, `${part}.py`), "utf8"))
    .join("\n");
}
