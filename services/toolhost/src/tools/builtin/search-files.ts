import type { JsonObject } from "@bufbuild/protobuf";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Tool } from "@reeve/calls/ports/tool";
import type { SearchRequest } from "@reeve/sandbox/files/workspace-search";
import { maxSearchedBytes, searchWorkspace } from "@reeve/sandbox/files/workspace-search";
import { builtinTool, stringOf } from "./builtin-tool.ts";
import { fileOutcome, pathProperty, textOf } from "./file-result.ts";

const timeoutMs = 30_000;
const maxEntries = 1_000;
const maxLines = 1_000;
const defaultLines = 100;
const maxPattern = 1_000;

const folder = { ...pathProperty, description: "Folder to look in. Absent: the workspace." };

/** Lists a folder of the workspace. */
export const listFiles: Tool = searchTool(
  {
    name: "list_files",
    description: `Lists a folder of the workspace, at most ${maxEntries} entries: folders end with /, files tell their size.`,
    properties: {
      path: folder,
      recursive: { type: "boolean", description: "Whether to list what is below as well." },
    },
    required: [],
  },
  (args) => ({
    operation: "list",
    path: folderOf(args),
    recursive: args["recursive"] === true,
    most: maxEntries,
  }),
);

/** Finds files of the workspace by their names. */
export const globFiles: Tool = searchTool(
  {
    name: "glob",
    description:
      `Finds files and folders of the workspace by a pattern, at most ${maxEntries}: * and ? and [a-z] stand for parts of a ` +
      "name, ** for any folders, {a,b} for either: src/**/*.{ts,js}.",
    properties: {
      pattern: text("The pattern, relative to the folder."),
      path: folder,
    },
    required: ["pattern"],
  },
  (args) => ({
    operation: "glob",
    path: folderOf(args),
    pattern: stringOf(args["pattern"]),
    most: maxEntries,
  }),
);

/** Finds lines in the files of the workspace. */
export const grepFiles: Tool = searchTool(
  {
    name: "grep",
    description:
      "Finds lines that match a regular expression (as in Python) in the text files of the workspace, as file:line:text. " +
      `Files over ${maxSearchedBytes} bytes are left out, and named.`,
    properties: {
      pattern: text("The regular expression."),
      path: { ...pathProperty, description: "File or folder to look in. Absent: the workspace." },
      glob: text("Only in files that match this: *.md, or docs/**/*.md."),
      ignore_case: { type: "boolean", description: "Whether upper and lower case are the same." },
      max_results: {
        type: "integer",
        minimum: 1,
        maximum: maxLines,
        description: `How many lines at most. Absent: ${defaultLines}.`,
      },
    },
    required: ["pattern"],
  },
  (args) => ({
    operation: "grep",
    path: folderOf(args),
    pattern: stringOf(args["pattern"]),
    glob: typeof args["glob"] === "string" ? args["glob"] : null,
    ignore_case: args["ignore_case"] === true,
    most: typeof args["max_results"] === "number" ? args["max_results"] : defaultLines,
  }),
);

interface SearchTool {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: string[];
}

function searchTool(options: SearchTool, requestOf: (args: JsonObject) => SearchRequest): Tool {
  return {
    descriptor: builtinTool({
      ...options,
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      idempotent: true,
    }),
    async call({ args, sandbox }, signal) {
      const box = await sandbox();
      const outcome = await searchWorkspace(box, requestOf(args), timeoutMs, signal);
      return fileOutcome(box, outcome, textOf(outcome).trimEnd());
    },
  };
}

function folderOf(args: JsonObject): string {
  return stringOf(args["path"]) || ".";
}

function text(description: string): JsonObject {
  return { type: "string", minLength: 1, maxLength: maxPattern, description };
}
