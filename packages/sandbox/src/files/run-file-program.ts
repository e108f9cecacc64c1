import type { ExecEnd, Sandbox, SandboxCommand, SandboxProgram } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { collect, endNote } from "./collect.ts";

const defaultTimeoutMs = 30_000;
const refusedCode = 2;

/** Outcome of a file operation. The reason of a refusal is text for the model. */
export type FileOutcome = { readonly end: ExecEnd } & (
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "refused"; readonly reason: string }
);

/** Returns the command that runs one of our programs on the files of a workspace. */
export function fileCommand(
  program: SandboxProgram,
  request: Readonly<Record<string, unknown>>,
): SandboxCommand {
  return {
    program,
    argv: [JSON.stringify(request)],
    limits: { ...defaultLimits, timeoutMs: defaultTimeoutMs },
  };
}

/** Runs a command of `fileCommand`. If it is ended early, the reason includes its output so far. */
export async function runFileProgram(
  sandbox: Sandbox,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<FileOutcome> {
  const { end, text } = await collect(sandbox, command, signal);
  if (end.reason === "exit" && end.code === 0) return { kind: "done", text: text("stdout"), end };
  const complaint = text("stderr").trim();
  if (end.code === refusedCode && complaint !== "")
    return { kind: "refused", reason: complaint, end };
  const note = endNote(end, command.limits.timeoutMs) ?? complaint.split("\n").at(-1);
  return { kind: "refused", reason: `${text("stdout")}[${note ?? "unknown error"}]`, end };
}
