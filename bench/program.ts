import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";

/** A program of ours on the same Node, until it is disposed. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor(args: readonly string[], environment: NodeJS.ProcessEnv = process.env) {
    this.#child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
      env: environment,
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What the pattern's group finds in the first line that it fits. Rejects when the program ends before. */
  async says(pattern: RegExp, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#child.once("exit", (code) => reject(new Error(`a process ended with ${code}`)));
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    if (this.#child.stdout !== null) {
      createInterface({ input: this.#child.stdout }).on("line", (line) => {
        const found = pattern.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    }
    return await promise;
  }

  /** The answer of the memory probe, which the program was started with: bytes that are left after a collection. */
  async keptBytes(signal: AbortSignal): Promise<number> {
    const answered = once(this.#child, "message", { signal });
    this.#child.send("collect");
    const [bytes] = await answered;
    return Number(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}
