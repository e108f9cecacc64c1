import type { ExecEnd, Sandbox, SandboxCommand, SandboxProgram } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { collect, endNote } from "./collect.ts";

const defaultTimeoutMs = 30_000;
const refusedCode = 2;

/** What became of a file operation; a refusal is told to the model. */
export type FileOutcome = { readonly end: ExecEnd } & (
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "refused"; readonly reason: string }
);

/** The command by which one of our programs does something to the files of a workspace. */
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

/** Runs such a command. What it had found when it was ended from outside is told with the reason. */
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
  return { kind: "refused", reason: `${text("stdout")}[${note ?? "nothing is known"}]`, end };
}
