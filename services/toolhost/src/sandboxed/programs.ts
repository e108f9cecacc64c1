import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of our own Python programs, which run inside the sandbox. */
export const programs = {
  executeCode: read("execute_code.py"),
  workspaceFiles: read("workspace_files.py"),
} as const;

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}
