import type { CallResult } from "@reeve/calls/ports/tool";
import type { FileOutcome } from "@reeve/sandbox/files/run-file-program";
import type { Sandbox } from "@reeve/sandbox/port";

/** The argument that every file tool has. Its length is limited because an argument of a program is. */
export const pathProperty = {
  type: "string",
  minLength: 1,
  maxLength: 4_096,
  description: "Path within the workspace.",
} as const;

export const readOnlyRefusal: CallResult = {
  content: "the workspace of this agent is read-only",
  isError: true,
};

/** Returns the result of a file operation. `content` is for the model when the operation succeeded. */
export function fileResult(
  { isolation }: Sandbox,
  outcome: FileOutcome,
  content: string,
): CallResult {
  const { reason: endReason, durationMs: executionTimeMs } = outcome.end;
  const record = { endReason, executionTimeMs, isolation };
  return outcome.kind === "done"
    ? { ...record, content, isError: false }
    : { ...record, content: outcome.reason, isError: true };
}

/** Returns the output of a file operation. Empty when it was refused. */
export function textOf(outcome: FileOutcome): string {
  return outcome.kind === "done" ? outcome.text : "";
}
