import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { timeLimitFor } from "@reeve/calls/settings/tool-settings";
import { defaultLimits } from "@reeve/sandbox/port";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Collected } from "@reeve/sandbox/files/collect";
import { collect, endNote } from "@reeve/sandbox/files/collect";
import { builtinDescriptor } from "./builtin-descriptor.ts";
import { networkUse } from "./network-use.ts";

/** The modules that code may import unless the agent spec lists others. */
const defaultImports: readonly string[] = [
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
];

/** Runs Python in the sandbox, with the workspace as the current directory. */
export const executeCode: Tool = {
  descriptor: builtinDescriptor({
    name: "execute_code",
    description:
      "Runs Python code in an isolated sandbox, in the workspace. There is no network unless HTTP_PROXY is set. Each call " +
      "starts a new process: variables are lost, files stay. Returns stdout, stderr, and as result the value of the last expression.",
    category: ToolCategory.CODE,
    permissionClass: PermissionClass.EXECUTE,
    properties: {
      code: { type: "string", description: "The Python code." },
      timeout: { type: "number", exclusiveMinimum: 0, description: "Time limit in seconds." },
    },
    required: ["code"],
  }),
  async call({ args, settings, sandbox, ...ids }, signal) {
    const box = await sandbox();
    const { timeoutMs, note: limitNote } = timeLimitFor(args["timeout"], settings.codeTimeoutMs);
    const request = {
      code: args["code"],
      allowed_imports: settings.allowedImports ?? defaultImports,
    };
    const collected = await collect(
      box,
      {
        program: "execute_code",
        argv: [],
        stdin: Buffer.from(JSON.stringify(request)),
        readOnly: settings.readOnly,
        ...networkUse(settings, ids),
        limits: { ...defaultLimits, timeoutMs },
      },
      signal,
    );
    const { end } = collected;
    const report = reportOf(collected);
    const success = end.reason === "exit" && end.code === 0 && report.success;
    const notes = [limitNote, endNote(end, timeoutMs)].filter(Boolean).map((note) => `[${note}]`);
    const executionTimeMs = report.executionTimeMs ?? Math.round(end.durationMs);
    const structured = {
      stdout: collected.text("stdout"),
      stderr: [collected.text("stderr"), ...notes].filter(Boolean).join("\n"),
      result: report.result,
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

interface Report {
  readonly result: string | null;
  readonly success: boolean;
  readonly executionTimeMs: number | undefined;
}

/** Parses the report of the program in the sandbox. Untrusted code may have forged it, so no decision depends on it. */
function reportOf({ text }: Collected): Report {
  const empty: Report = { result: null, success: false, executionTimeMs: undefined };
  let report: unknown;
  try {
    report = JSON.parse(text("result"));
  } catch {
    return empty;
  }
  if (typeof report !== "object" || report === null) return empty;
  const { result, success, execution_time_ms: time } = report as Record<string, unknown>;
  return {
    result: typeof result === "string" ? result : null,
    success: success === true,
    executionTimeMs: typeof time === "number" && time >= 0 ? time : undefined,
  };
}
