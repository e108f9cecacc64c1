import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "../async/abortable.ts";
import { Failure } from "../failure.ts";
import type { Logger } from "../telemetry/logger.ts";

/** A NATS server that this process started. Disposing it ends the server. */
export interface NatsServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

export interface NatsServerOptions {
  /** The directory of its file store; created if it is missing. */
  readonly storeDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** A configuration file with further settings, such as users. Default: none, and everyone on this machine may connect. */
  readonly configFile?: string | undefined;
  readonly log: Logger;
}

/** The time that the server has to become ready. */
const readyMs = 15_000;

/**
 * Starts `nats-server` with JetStream on loopback. The server ends when it is disposed, and when this process ends for any
 * reason. Throws a Failure if the program is missing, the port is in use, or the store cannot be opened.
 */
export async function startNatsServer(
  { storeDir, port: fixedPort, configFile, log }: NatsServerOptions,
  signal: AbortSignal,
): Promise<NatsServer> {
  const program = findProgram("nats-server");
  if (program === undefined) {
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      "nats-server is not installed; install your distribution's package of that name, or set REEVE_NATS_URL",
    );
  }
  mkdirSync(storeDir, { recursive: true, mode: 0o700 });
  const args = [
    "--addr",
    "127.0.0.1",
    "--port",
    // -1: the server chooses a free port, and logs it.
    String(fixedPort ?? -1),
    "--jetstream",
    "--store_dir",
    storeDir,
    ...(configFile === undefined ? [] : ["--config", configFile]),
  ];
  const [command, ...rest] = [...deathWithParent(), program, ...args];
  const child = spawn(command ?? program, rest, {
    stdio: ["ignore", "ignore", "pipe"],
    // In a process group of its own: Ctrl-C in a terminal must not end the server before the services that use it.
    detached: true,
  });
  const ended = once(child, "exit").then(() => undefined);
  // Rejects if the program cannot be spawned, which `untilReady` reports.
  ended.catch(() => undefined);
  let port: number;
  try {
    port = await untilReady(child, fixedPort, signal);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  child.stderr?.on("data", (lines: Buffer) =>
    log.debug({ lines: lines.toString() }, "nats-server"),
  );
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const timeout = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timeout);
    },
  };
}

/** Returns a command prefix that ends the child with its parent: by the kernel, or, without `setpriv`, by a shell that polls. */
function deathWithParent(): readonly string[] {
  const setpriv = findProgram("setpriv");
  if (setpriv !== undefined) return [setpriv, "--pdeathsig", "KILL", "--"];
  const watch = `"$@" & child=$!
trap 'kill -TERM $child' TERM INT
while kill -0 ${process.pid} 2>/dev/null && kill -0 $child 2>/dev/null; do sleep 0.5; done
kill -KILL $child 2>/dev/null; wait $child`;
  return ["/bin/sh", "-c", watch, "sh"];
}

/** Resolves with the port that the server listens on. */
async function untilReady(
  child: ChildProcess,
  fixedPort: number | undefined,
  signal: AbortSignal,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const where = fixedPort === undefined ? "" : ` on port ${fixedPort}`;
  let output = "";
  const fail = (problem: string) =>
    reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, `nats-server${where} ${problem}`));
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    const [, port] = /Listening for client connections on \S+:(\d+)/.exec(output) ?? [];
    if (port !== undefined && output.includes("Server is ready")) resolve(Number(port));
  };
  const exit = () => fail(`exited during startup: ${lastError(output)}`);
  const notStarted = (error: Error) => fail(`could not be started: ${error.message}`);
  const timeout = setTimeout(() => fail(`was not ready within ${readyMs / 1000} s`), readyMs);
  child.stderr?.on("data", read);
  child.once("exit", exit);
  child.once("error", notStarted);
  try {
    return await abortable(promise, signal);
  } finally {
    clearTimeout(timeout);
    child.stderr?.off("data", read);
    child.off("exit", exit);
    child.off("error", notStarted);
  }
}

function lastError(output: string): string {
  const lines = output.trim().split("\n");
  const fatal = lines.findLast((line) => line.includes("[FTL]") || line.includes("[ERR]"));
  return (fatal ?? lines.at(-1) ?? "").replace(/^.*?\[(?:FTL|ERR)\]\s*/, "");
}

/** Returns the path of a program, or undefined if neither the PATH nor the usual server directories have it. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  // Server packages often install into directories that only root has on the PATH.
  return [...folders, "/usr/sbin", "/usr/local/sbin"]
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
