import { create } from "@bufbuild/protobuf";
import { PermissionClass, ToolDescriptorSchema, ToolStatus } from "@reeve/contracts/tool";
import { blacklisted, defaultBlacklist } from "../../domain/command-blacklist.ts";
import { collectExec, endInWords } from "../collect-exec.ts";
import { listOr, timeLimitMs } from "../setting-values.ts";
import type { Tool, ToolOutcome } from "../tool.ts";
import { failed } from "../tool.ts";
import { stringsArgument, timeoutMsOf } from "../tool-arguments.ts";

const outputBytes = 1024 * 1024;
const shownCharacters = 20_000;

/** Runs a program in the sandbox. */
export const runCommand: Tool = {
  descriptor: create(ToolDescriptorSchema, {
    name: "run_command",
    description:
      "Runs a program in an isolated sandbox without network, in the workspace as the current folder. The command is a list of arguments; no shell expands it. Returns JSON with stdout, stderr, exit_code, success and execution_time_ms.",
    inputSchema: {
      type: "object",
      properties: {
        command: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          description: 'The program and its arguments: ["ls", "-l"].',
        },
        timeout: {
          type: "number",
          exclusiveMinimum: 0,
          description: "Seconds; at most the limit of the agent.",
        },
      },
      required: ["command"],
    },
    permissionClass: PermissionClass.EXECUTE,
    source: "builtin",
  }),
  async run({ args, settings, sandbox }, signal) {
    const argv = stringsArgument(args, "command");
    const refused = blacklisted(argv, listOr(settings?.commandBlacklist, defaultBlacklist));
    if (refused !== undefined) return failed(`the command ${refused} is not allowed here`);
    if (argv.some((part) => part.includes("\0"))) {
      return failed("an argument cannot have a NUL character");
    }
    const place = await sandbox();
    const command = {
      argv,
      stdin: "",
      timeoutMs: timeoutMsOf(args, timeLimitMs(settings?.commandTimeout)),
      outputBytes,
    };
    const outcome = await collectExec(place.exec(command, signal));
    const { reason, code, durationMs } = outcome.end;
    const trouble = endInWords(outcome.end);
    const result = {
      stdout: outcome.text("stdout").slice(0, shownCharacters),
      stderr:
        outcome.text("stderr").slice(0, shownCharacters) +
        (trouble === undefined ? "" : `\n[${trouble}]`),
      exit_code: code ?? null,
      success: reason === "exit" && code === 0,
      execution_time_ms: Math.round(durationMs),
    };
    const status = result.success ? ToolStatus.SUCCESS : ToolStatus.ERROR;
    return {
      content: JSON.stringify(result),
      structured: result,
      status: reason === "timeout" ? ToolStatus.TIMED_OUT : status,
      endReason: reason,
      isolation: place.isolation,
    } satisfies ToolOutcome;
  },
};
