import type { Tool } from "@reeve/calls/ports/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { editFile } from "./builtin/edit-file.ts";
import { executeCode } from "./builtin/execute-code.ts";
import { publishReport } from "./builtin/publish-report.ts";
import { readFile } from "./builtin/read-file.ts";
import { runCommand } from "./builtin/run-command.ts";
import { globFiles, grepFiles, listFiles } from "./builtin/search-files.ts";
import { writeFile } from "./builtin/write-file.ts";

export interface BuiltinToolsOptions {
  readonly artifacts: ArtifactStore;
  /** How large a published file may be. */
  readonly maxArtifactBytes: number;
  /** How much text one read returns at most. */
  readonly maxReadBytes: number;
  /** How large a file may be that is searched. */
  readonly maxGrepBytes: number;
  /** Why this host runs no code. Undefined: it does. */
  readonly codeRefusal: string | undefined;
}

/**
 * Returns the built-in tools of a host. To add a tool, create a file in `builtin/` and add one line here; its descriptor
 * carries its permission class and its category.
 */
export function builtinTools(options: BuiltinToolsOptions): readonly Tool[] {
  const { artifacts, maxArtifactBytes, maxReadBytes, maxGrepBytes, codeRefusal } = options;
  const tools = [
    executeCode,
    runCommand,
    readFile(maxReadBytes),
    writeFile,
    editFile,
    listFiles,
    globFiles,
    grepFiles(maxGrepBytes),
    publishReport(artifacts, maxArtifactBytes),
  ];
  return codeRefusal === undefined ? tools : tools.map((tool) => withoutCode(tool, codeRefusal));
}

/** A tool that executes code answers each call with the reason why this host runs none. */
function withoutCode(tool: Tool, why: string): Tool {
  const { descriptor } = tool;
  if (descriptor.permissionClass !== PermissionClass.EXECUTE) return tool;
  return { descriptor, call: () => Promise.resolve({ content: why, isError: true }) };
}
