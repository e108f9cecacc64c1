import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of our own Python programs, which run inside the sandbox. Parts that several of them share stand first. */
export const programs = {
  executeCode: programOf("execute_code"),
  workspaceFiles: programOf("workspace_paths", "workspace_files"),
  workspaceSearch: programOf("workspace_paths", "workspace_globs", "workspace_search"),
} as const;

function programOf(...parts: readonly string[]): string {
  return parts
    .map((part) => readFileSync(join(import.meta.dirname, `${part}.py`), "utf8"))
    .join("\n");
}
