import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxProgram } from "../port.ts";

/** The text of our own Python programs, which run inside the sandbox. Parts that several of them share stand first. */
export const programs = {
  execute_code: programOf("execute_code"),
  workspace_files: programOf("workspace_paths", "workspace_drafts", "workspace_files"),
  workspace_search: programOf("workspace_paths", "workspace_globs", "workspace_search"),
  workspace_entries: programOf("workspace_paths", "workspace_entries"),
  workspace_archive: programOf("workspace_paths", "workspace_archive"),
} as const satisfies Record<SandboxProgram, string>;

/** The first process of a sandbox, which runs all others. */
export const agentProgram = programOf(
  "agent_host",
  "agent_cleanup",
  "agent_network",
  "agent_calls",
  "agent",
);

/** What a sandbox runs until it is given the agent. */
export const bootstrapProgram = programOf("bootstrap");

function programOf(...parts: readonly string[]): string {
  return parts
    .map((part) => readFileSync(join(import.meta.dirname, `${part}.py`), "utf8"))
    .join("\n");
}
