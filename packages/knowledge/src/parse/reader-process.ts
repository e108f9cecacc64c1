import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import process from "node:process";

/** A program with its arguments. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** How a process ended. */
export type ReaderEnd =
  | { readonly kind: "answered"; readonly output: string }
  /** It wrote more than it may. */
  | { readonly kind: "wrote_too_much" }
  | { readonly kind: "failed"; readonly cause: string; readonly stderr: string };

const maxStderrCharacters = 2_000;

/** Starts a process without environment variables, which ends when it is disposed. Throws if it cannot be started. */
export async function startReader({ file, args }: Command) {
  // A group of its own, which is ended as a whole: bubblewrap that is ended while it starts would leave a process that waits for it.
  const options = { env: {}, cwd: "/", stdio: "pipe", detached: true } as const;
  const child = spawn(file, args, options);
  // Before anything else: an error without a listener would end this process.
  const closed = once(child, "close");
  closed.catch(() => undefined);
  if (child.pid === undefined) {
    await closed;
    throw new Error(`${file} did not start`);
  }
  const { pid } = child;
  const kill = () => killGroup(pid);
  // What ends early does not read its input.
  child.stdin.on("error", () => undefined);
  return {
    pid,
    /** Returns what the process answers to an input. Rejects with the signal's reason, and then ends the process. */
    async exchange(input: Uint8Array, maxBytes: number, signal: AbortSignal): Promise<ReaderEnd> {
      signal.addEventListener("abort", kill, { once: true });
      if (signal.aborted) kill();
      let stderr = "";
      child.stderr.on("data", (chunk: Buffer) => {
        stderr = `${stderr}${chunk.toString("utf8")}`.slice(-maxStderrCharacters);
      });
      child.stdin.end(input);
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) return { kind: "wrote_too_much" };
        chunks.push(chunk);
      }
      const [code, by] = (await closed) as [number | null, string | null];
      signal.throwIfAborted();
      if (code === 0) return { kind: "answered", output: Buffer.concat(chunks).toString("utf8") };
      const cause = by === null ? `exit code ${code}` : `signal ${by}`;
      return { kind: "failed", cause, stderr };
    },
    async [Symbol.asyncDispose]() {
      kill();
      await closed.catch(() => undefined);
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Returns the memory of a process and of its descendants in bytes. 0: it is not known, as on systems without `/proc`. */
export async function residentBytes(pid: number): Promise<number> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const pages = Number((await read("statm")).split(" ")[1] ?? 0);
  const children = (await read(`task/${pid}/children`)).split(" ").filter((each) => each !== "");
  const sizes = await Promise.all(children.map((child) => residentBytes(Number(child))));
  return sizes.reduce((sum, size) => sum + size, pages * 4_096);
}
