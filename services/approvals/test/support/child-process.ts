import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A process that a test started. Disposing it kills it. */
export interface TestProcess extends AsyncDisposable {
  readonly pid: number;
  /** The lines that it has written to its standard output and to its standard error. */
  readonly lines: readonly string[];
  /** Ends it as a crash does. */
  kill(): Promise<void>;
}

/** Starts a program, and returns when it has written a line that contains `ready`. */
export async function startProcess(
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  ready: string,
): Promise<TestProcess> {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  const lines: string[] = [];
  const isReady = Promise.withResolvers<void>();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => {
      lines.push(line);
      if (line.includes(ready)) isReady.resolve();
    });
  }
  void ended.then(() => isReady.reject(new Error(`${program} ended: ${lines.join("\n")}`)));
  await isReady.promise;
  const kill = () => killed(child, ended);
  return { pid: child.pid ?? 0, lines, kill, [Symbol.asyncDispose]: kill };
}

async function killed(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}
