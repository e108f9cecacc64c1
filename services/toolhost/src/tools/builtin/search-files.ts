import type { JsonObject } from "@bufbuild/protobuf";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import type { Tool } from "@reeve/calls/ports/tool";
import type { SearchRequest } from "@reeve/sandbox/files/workspace-search";
import { searchWorkspace } from "@reeve/sandbox/files/workspace-search";
import { builtinDescriptor, stringOf } from "./builtin-descriptor.ts";
import { fileResult, pathProperty, textOf } from "./file-result.ts";

const timeoutMs = 30_000;
const maxEntries = 1_000;
const maxLines = 1_000;
const defaultLines = 100;
const maxPatternLength = 1_000;

const folder = { ...pathProperty, description: "Folder to search. Default: the workspace." };

/** Lists a folder of the workspace. */
export const listFiles: Tool = searchTool(
  {
    name: "list_files",
    description: `Lists a folder of the workspace, at most ${maxEntries} entries: folders end with /, files show their size.`,
    properties: {
      path: folder,
      recursive: { type: "boolean", description: "Whether to list subfolders as well." },
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

/** Finds files of the workspace by name. */
export const globFiles: Tool = searchTool(
  {
    name: "glob",
    description:
      `Finds files and folders of the workspace by a pattern, at most ${maxEntries}: *, ?, and [a-z] match parts of a name, ` +
      "** matches any folders, {a,b} matches either: src/**/*.{ts,js}.",
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

/** Returns the tool that finds lines in the files of the workspace. */
export function grepFiles(maxBytes: number): Tool {
  return searchTool(
    {
      name: "grep",
      description:
        "Finds lines that match a regular expression (as in Python) in the text files of the workspace, as file:line:text. " +
        `Files over ${maxBytes} bytes are skipped, and named.`,
      properties: {
        pattern: text("The regular expression."),
        path: { ...pathProperty, description: "File or folder to search. Default: the workspace." },
        glob: text("Searches only files that match: *.md, or docs/**/*.md."),
        ignore_case: { type: "boolean", description: "Whether to ignore case." },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: maxLines,
          description: `Maximum number of lines. Default: ${defaultLines}.`,
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
      most_bytes: maxBytes,
    }),
  );
}

interface SearchTool {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: string[];
}

function searchTool(options: SearchTool, requestOf: (args: JsonObject) => SearchRequest): Tool {
  return {
    descriptor: builtinDescriptor({
      ...options,
      category: ToolCategory.FILESYSTEM,
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      idempotent: true,
    }),
    async call({ args, sandbox }, signal) {
      const box = await sandbox();
      const outcome = await searchWorkspace(box, requestOf(args), timeoutMs, signal);
      return fileResult(box, outcome, textOf(outcome).trimEnd());
    },
  };
}

function folderOf(args: JsonObject): string {
  return stringOf(args["path"]) || ".";
}

function text(description: string): JsonObject {
  return { type: "string", minLength: 1, maxLength: maxPatternLength, description };
}
