import { create } from "@bufbuild/protobuf";
import { PermissionClass, ToolDescriptorSchema, ToolStatus } from "@reeve/contracts/tool";
import { collectExec, endInWords } from "../collect-exec.ts";
import { listOr, timeLimitMs } from "../setting-values.ts";
import type { Tool, ToolOutcome } from "../tool.ts";
import { stringArgument, timeoutMsOf } from "../tool-arguments.ts";

/** What code may import unless the agent says otherwise: nothing that opens a connection or starts a process. */
const defaultImports = [
  "math",
  "json",
  "datetime",
  "re",
  "collections",
  "itertools",
  "functools",
  "typing",
  "dataclasses",
  "pathlib",
  "os.path",
] as const;

const outputBytes = 1024 * 1024;
/** What of each stream the model reads, in characters. */
const shownCharacters = 20_000;

/** Executes Python in the sandbox. `script` is the source of the helper that runs there. */
export function executeCode(script: string): Tool {
  return {
    descriptor: create(ToolDescriptorSchema, {
      name: "execute_code",
      description:
        "Executes Python code in an isolated sandbox without network, in the workspace as the current folder. Returns JSON with stdout, stderr, result (the value of the last expression), success and execution_time_ms. Nothing is kept between calls but files.",
      inputSchema: {
        type: "object",
        properties: {
          code: { type: "string", description: "The code." },
          timeout: {
            type: "number",
            exclusiveMinimum: 0,
            description: "Seconds; at most the limit of the agent.",
          },
        },
        required: ["code"],
      },
      permissionClass: PermissionClass.EXECUTE,
      source: "builtin",
    }),
    async run({ args, settings, sandbox }, signal) {
      const place = await sandbox();
      const allowed = listOr(settings?.allowedImports, defaultImports);
      const command = {
        argv: ["/usr/bin/python3", "-I", "-X", "utf8", "-c", script],
        stdin: JSON.stringify({ code: stringArgument(args, "code"), allowed_imports: allowed }),
        timeoutMs: timeoutMsOf(args, timeLimitMs(settings?.codeTimeout)),
        outputBytes,
      };
      const outcome = await collectExec(place.exec(command, signal));
      const report = reportOf(outcome.text("report"));
      const trouble = endInWords(outcome.end);
      const result = {
        stdout: head(outcome.text("stdout")),
        stderr: head(outcome.text("stderr") + (trouble === undefined ? "" : `\n[${trouble}]`)),
        result: report.result,
        success: trouble === undefined && report.success,
        execution_time_ms: Math.round(outcome.end.durationMs),
      };
      return {
        content: JSON.stringify(result),
        structured: result,
        status: statusOf(outcome.end.reason, result.success),
        endReason: outcome.end.reason,
        isolation: place.isolation,
      } satisfies ToolOutcome;
    },
  };
}

function statusOf(reason: string, success: boolean): ToolStatus {
  if (reason === "timeout") return ToolStatus.TIMED_OUT;
  return success ? ToolStatus.SUCCESS : ToolStatus.ERROR;
}

/** What the helper said. Foreign code can write there too: what does not read as a report is a failure. */
function reportOf(text: string): { readonly success: boolean; readonly result: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "success" in value && "result" in value) {
      const { success, result } = value;
      return {
        success: success === true,
        result: typeof result === "string" ? head(result) : null,
      };
    }
  } catch {
    // Told as a failure below.
  }
  return { success: false, result: null };
}

function head(text: string): string {
  return text.length <= shownCharacters
    ? text
    : `${text.slice(0, shownCharacters)}\n[cut: ${text.length} characters in all]`;
}
