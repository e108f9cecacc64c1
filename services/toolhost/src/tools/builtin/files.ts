import { PermissionClass } from "@reeve/contracts/tool";
import type { Tool } from "@reeve/calls/ports/tool";
import { maxReadBytes, readText, writeFile } from "@reeve/sandbox/files/workspace-files";
import { builtinTool, stringOf } from "./builtin-tool.ts";
import { fileOutcome, pathProperty as path, readOnlyRefusal, textOf } from "./file-result.ts";

/** Gives a text file of the workspace, or some lines of it. */
export const readFile: Tool = {
  descriptor: builtinTool({
    name: "read_file",
    description: `Reads a text file of the workspace, at most ${maxReadBytes} bytes at a time.`,
    permissionClass: PermissionClass.WORKSPACE_WRITE,
    properties: {
      path,
      offset: { type: "integer", minimum: 0, description: "Lines to skip." },
      limit: { type: "integer", minimum: 1, description: "Lines to read. Absent: all." },
    },
    required: ["path"],
    idempotent: true,
  }),
  async call({ args, sandbox }, signal) {
    const { offset, limit } = args;
    const box = await sandbox();
    const request = {
      path: stringOf(args["path"]),
      offset: typeof offset === "number" ? offset : 0,
      limit: typeof limit === "number" ? limit : undefined,
    };
    const outcome = await readText(box, request, signal);
    return fileOutcome(box, outcome, textOf(outcome));
  },
};

/** Writes a text file of the workspace. */
export const writeFileTool: Tool = {
  descriptor: builtinTool({
    name: "write_file",
    description:
      "Writes a text file of the workspace, in place of what was there. Missing folders are made.",
    permissionClass: PermissionClass.WORKSPACE_WRITE,
    properties: { path, content: { type: "string", description: "The whole new content." } },
    required: ["path", "content"],
    idempotent: true,
    exclusiveLock: "workspace",
  }),
  async call({ args, settings, sandbox }, signal) {
    if (settings.readOnly) return readOnlyRefusal;
    const file = stringOf(args["path"]);
    const content = Buffer.from(stringOf(args["content"]));
    const box = await sandbox();
    const outcome = await writeFile(box, file, content, signal);
    return fileOutcome(box, outcome, `${content.length} bytes written to ${file}`);
  },
};
