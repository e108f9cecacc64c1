import { PermissionClass } from "@reeve/contracts/tool";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Tool, ToolOutcome } from "../../ports/tool.ts";
import type { FileOutcome } from "../workspace-files.ts";
import { mostReadBytes, readText, writeFile } from "../workspace-files.ts";
import { builtinTool, stringOf } from "./builtin-tool.ts";

const path = { type: "string", minLength: 1, description: "Path within the workspace." } as const;

/** Gives a text file of the workspace, or some lines of it. */
export const readFile: Tool = {
  descriptor: builtinTool({
    name: "read_file",
    description: `Reads a text file of the workspace, at most ${mostReadBytes} bytes at a time.`,
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
    return told(box, outcome, outcome.kind === "done" ? outcome.text : "");
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
    if (settings.readOnly) {
      return { content: "the workspace of this agent is read-only", isError: true };
    }
    const file = stringOf(args["path"]);
    const content = Buffer.from(stringOf(args["content"]));
    const box = await sandbox();
    const outcome = await writeFile(box, file, content, signal);
    return told(box, outcome, `${content.length} bytes written to ${file}`);
  },
};

function told({ isolation }: Sandbox, outcome: FileOutcome, content: string): ToolOutcome {
  const { reason: endReason, durationMs: executionTimeMs } = outcome.end;
  const record = { endReason, executionTimeMs, isolation };
  return outcome.kind === "done"
    ? { ...record, content, isError: false }
    : { ...record, content: outcome.reason, isError: true };
}
