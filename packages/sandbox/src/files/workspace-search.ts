import type { Sandbox } from "../port.ts";
import { defaultLimits } from "../port.ts";
import type { FileOutcome } from "./run-file-program.ts";
import { fileCommand, runFileProgram } from "./run-file-program.ts";

/** How large a file may be that is searched. */
export const maxSearchedBytes = 10_000_000;

/** One search, as the program in the sandbox takes it. Paths that come out are relative to the workspace. */
export type SearchRequest =
  | {
      readonly operation: "list";
      readonly path: string;
      readonly recursive: boolean;
      readonly most: number;
    }
  | {
      readonly operation: "glob";
      readonly path: string;
      readonly pattern: string;
      readonly most: number;
    }
  | {
      readonly operation: "grep";
      readonly path: string;
      /** As Python's `re` understands it, whatever the host has: the same pattern finds the same everywhere. */
      readonly pattern: string;
      /** Only files that it takes. */
      readonly glob: string | null;
      readonly ignore_case: boolean;
      readonly most: number;
    };

/** Looks for files, or for lines in them. A search that takes longer than `timeoutMs` is ended, and gives what it found. */
export async function searchWorkspace(
  sandbox: Sandbox,
  request: SearchRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<FileOutcome> {
  const limit = request.operation === "grep" ? { most_bytes: maxSearchedBytes } : {};
  const command = fileCommand("workspace_search", { ...request, ...limit });
  const limits = { ...defaultLimits, timeoutMs };
  return await runFileProgram(sandbox, { ...command, readOnly: true, limits }, signal);
}
