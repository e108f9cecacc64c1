import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";

interface ProgramOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** Where it works. Default: where this process does. */
  readonly folder?: string;
  /** The output that is read; the other one is inherited. */
  readonly reads?: "stdout" | "stderr";
}

/** A program of the repository on the same Node version. Disposal ends it. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #reads: "stdout" | "stderr";

  constructor(
    args: readonly string[],
    { environment = process.env, folder, reads = "stdout" }: ProgramOptions = {},
  ) {
    const [out, error] =
      reads === "stdout" ? (["pipe", "inherit"] as const) : (["inherit", "pipe"] as const);
    this.#reads = reads;
    this.#child = spawn(process.execPath, args, {
      stdio: ["ignore", out, error, "ipc"],
      env: environment,
      ...(folder !== undefined && { cwd: folder }),
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves with the first match of the pattern's group in a line. Rejects if the program ends first. */
  async says(pattern: RegExp, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#child.once("exit", (code) => reject(new Error(`a process ended with ${code}`)));
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    const output = this.#child[this.#reads];
    if (output !== null) {
      createInterface({ input: output }).on("line", (line) => {
        const found = pattern.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    }
    return await promise;
  }

  /** Returns the bytes that are retained after garbage collection. Requires the process probe. */
  async keptBytes(signal: AbortSignal): Promise<number> {
    return await this.#ask("collect", signal);
  }

  /** Returns for how long the event loop was busy at once since it was last asked, in milliseconds. Requires the process probe. */
  async longestBlockMs(signal: AbortSignal): Promise<number> {
    return await this.#ask("delay", signal);
  }

  async #ask(question: string, signal: AbortSignal): Promise<number> {
    const answered = once(this.#child, "message", { signal });
    this.#child.send(question);
    const [answer] = await answered;
    return Number(answer);
  }

  /** Kills the program, as a power failure would. Resolves when it has ended. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
