import type { Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { readText } from "@reeve/sandbox/files/workspace-files";
import { builtinDescriptor, stringOf } from "./builtin-descriptor.ts";
import { fileResult, pathProperty as path, textOf } from "./file-result.ts";

/** Returns the tool that reads a text file of the workspace, or some of its lines. */
export function readFile(maxBytes: number): Tool {
  return {
    descriptor: builtinDescriptor({
      name: "read_file",
      description: `Reads a text file of the workspace, at most ${maxBytes} bytes at a time.`,
      category: ToolCategory.FILESYSTEM,
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      properties: {
        path,
        offset: { type: "integer", minimum: 0, description: "Lines to skip." },
        limit: { type: "integer", minimum: 1, description: "Lines to read. Default: all." },
      },
      required: ["path"],
      idempotent: true,
      pathArguments: ["path"],
    }),
    async call({ args, sandbox }, signal) {
      const { offset, limit } = args;
      const box = await sandbox();
      const request = {
        path: stringOf(args["path"]),
        offset: typeof offset === "number" ? offset : 0,
        limit: typeof limit === "number" ? limit : undefined,
        maxBytes,
      };
      const outcome = await readText(box, request, signal);
      return fileResult(box, outcome, textOf(outcome));
    },
  };
}
