import type { Sandbox } from "@reeve/sandbox/port";
import type { CallResult } from "@reeve/calls/ports/tool";
import type { FileOutcome } from "@reeve/sandbox/files/run-file-program";

/** The argument that every file tool has. An argument of a program may not be longer. */
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

/** A file operation as the outcome of a tool; `content` is told when it was done. */
export function fileOutcome(
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

/** What the operation itself says. */
export function textOf(outcome: FileOutcome): string {
  return outcome.kind === "done" ? outcome.text : "";
}
