import type { Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { writeFile as writeTo } from "@reeve/sandbox/files/workspace-files";
import { builtinDescriptor, stringOf } from "./builtin-descriptor.ts";
import { fileResult, pathProperty as path, readOnlyRefusal } from "./file-result.ts";

/** Writes a text file of the workspace. */
export const writeFile: Tool = {
  descriptor: builtinDescriptor({
    name: "write_file",
    description:
      "Writes a text file of the workspace and replaces its old content. Creates missing folders.",
    category: ToolCategory.FILESYSTEM,
    permissionClass: PermissionClass.WORKSPACE_WRITE,
    properties: { path, content: { type: "string", description: "The whole new content." } },
    required: ["path", "content"],
    idempotent: true,
    exclusiveLock: "workspace",
    pathArguments: ["path"],
  }),
  async call({ args, settings, sandbox }, signal) {
    if (settings.readOnly) return readOnlyRefusal;
    const file = stringOf(args["path"]);
    const content = Buffer.from(stringOf(args["content"]));
    const box = await sandbox();
    const outcome = await writeTo(box, file, content, signal);
    return fileResult(box, outcome, `${content.length} bytes written to ${file}`);
  },
};
