import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

/** A command line that runs as a process of its own. */
export interface ReeveProcess {
  readonly child: ChildProcess;
  /** What it has said so far. */
  said(): string;
  noted(): string;
  /** Resolves as soon as stdout and stderr together hold `text`; rejects when the process ends without. */
  until(text: string): Promise<void>;
  readonly code: Promise<number>;
}

const bin = join(import.meta.dirname, "../../bin/reeve.mjs");

export function startReeve(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ReeveProcess {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, NO_COLOR: "1", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let noted = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (noted += chunk.toString()));
  const ended = Promise.withResolvers<number>();
  child.on("close", (code) => ended.resolve(code ?? -1));
  return {
    child,
    said: () => said,
    noted: () => noted,
    code: ended.promise,
    until: async (text) => {
      const found = Promise.withResolvers<void>();
      const look = () => {
        if (said.includes(text) || noted.includes(text)) found.resolve();
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.on("close", () => found.reject(new Error(`"${text}" was not said:\n${said}${noted}`)));
      look();
      await found.promise;
    },
  };
}
