import type { Sandbox } from "../port.ts";
import { defaultLimits } from "../port.ts";
import type { FileOutcome } from "./run-file-program.ts";
import { fileCommand, runFileProgram } from "./run-file-program.ts";

/** Maximum size of a file to search, unless a request has another. Larger files are skipped. */
export const maxSearchedBytes = 10_000_000;

/** A search request for the program in the sandbox. It returns paths relative to the workspace. */
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
      /** Regular expression of Python's `re`, so that it has the same matches on every host. */
      readonly pattern: string;
      /** Searches only files that match this pattern. */
      readonly glob: string | null;
      readonly ignore_case: boolean;
      readonly most: number;
      readonly most_bytes?: number;
    };

/** Searches for files, or for lines in files. A search that exceeds `timeoutMs` is ended, and returns what it found so far. */
export async function searchWorkspace(
  sandbox: Sandbox,
  request: SearchRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<FileOutcome> {
  const limit = request.operation === "grep" ? { most_bytes: maxSearchedBytes } : {};
  const command = fileCommand("workspace_search", { ...limit, ...request });
  const limits = { ...defaultLimits, timeoutMs };
  return await runFileProgram(sandbox, { ...command, readOnly: true, limits }, signal);
}
