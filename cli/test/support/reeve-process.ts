import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import process from "node:process";
import { programFile } from "@reeve/platform/test/support/program-file";

/** A command line in its own process. */
export interface ReeveProcess {
  readonly child: ChildProcess;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout or stderr contains `text`. Rejects if the process ends first. */
  until(text: string): Promise<void>;
  readonly code: Promise<number>;
}

export function startReeve(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ReeveProcess {
  const child = spawn(process.execPath, [programFile("reeve"), ...args], {
    env: { ...process.env, NO_COLOR: "1", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = Promise.withResolvers<number>();
  child.on("close", (code) => ended.resolve(code ?? -1));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    code: ended.promise,
    until: async (text) => {
      const found = Promise.withResolvers<void>();
      const check = () => {
        if (stdout.includes(text) || stderr.includes(text)) found.resolve();
      };
      child.stdout.on("data", check);
      child.stderr.on("data", check);
      child.on("close", () =>
        found.reject(new Error(`no "${text}" in the output:\n${stdout}${stderr}`)),
      );
      check();
      await found.promise;
    },
  };
}
