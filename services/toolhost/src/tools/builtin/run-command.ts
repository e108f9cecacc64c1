import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { blacklistedCommand, defaultBlacklist } from "./command-blacklist.ts";
import { timeLimitFor } from "@reeve/calls/settings/tool-settings";
import { defaultLimits } from "@reeve/sandbox/port";
import type { Tool } from "@reeve/calls/ports/tool";
import { collect, endNote } from "@reeve/sandbox/files/collect";
import { builtinDescriptor } from "./builtin-descriptor.ts";
import { networkUse } from "./network-use.ts";

/** Runs one program in the sandbox, without a shell. */
export const runCommand: Tool = {
  descriptor: builtinDescriptor({
    name: "run_command",
    description:
      "Runs a program in an isolated sandbox, in the workspace. There is no network unless HTTP_PROXY is set. The command is " +
      "a list: the program and its arguments. There is no shell: no pipes, no redirection, no expansion. Some destructive commands are refused.",
    category: ToolCategory.TERMINAL,
    permissionClass: PermissionClass.EXECUTE,
    properties: {
      command: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: 1_000,
        description: 'The program and its arguments: ["grep", "-c", "total", "data.csv"].',
      },
      timeout: { type: "number", exclusiveMinimum: 0, description: "Time limit in seconds." },
    },
    required: ["command"],
    pathArguments: ["command"],
  }),
  async call({ args, settings, sandbox, ...ids }, signal) {
    const command = Array.isArray(args["command"]) ? args["command"] : [];
    const argv = command.filter((word) => typeof word === "string");
    const refused = blacklistedCommand(argv, settings.commandBlacklist ?? defaultBlacklist);
    if (refused !== undefined) {
      return { content: `the command ${refused} is not allowed here`, isError: true };
    }
    if (argv.some((word) => word.includes("\0"))) {
      return { content: "an argument contains a NUL character", isError: true };
    }
    const box = await sandbox();
    const { timeoutMs, note: limitNote } = timeLimitFor(args["timeout"], settings.commandTimeoutMs);
    const limits = { ...defaultLimits, timeoutMs };
    const { readOnly } = settings;
    const network = networkUse(settings, ids);
    const { end, text } = await collect(box, { argv, limits, readOnly, ...network }, signal);
    const success = end.reason === "exit" && end.code === 0;
    const notes = [limitNote, endNote(end, timeoutMs)].filter(Boolean).map((note) => `[${note}]`);
    const executionTimeMs = Math.round(end.durationMs);
    const structured = {
      stdout: text("stdout"),
      stderr: [text("stderr"), ...notes].filter(Boolean).join("\n"),
      exit_code: end.code ?? null,
      success,
      execution_time_ms: executionTimeMs,
    };
    return {
      content: JSON.stringify(structured),
      structured,
      isError: !success,
      endReason: end.reason,
      isolation: box.isolation,
      executionTimeMs,
    };
  },
};
