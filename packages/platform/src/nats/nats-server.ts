import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import type { Logger } from "../telemetry/logger.ts";

/** A NATS server of our own. */
export interface NatsServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

export interface NatsServerOptions {
  /** Folder of its file store; made when it is missing. */
  readonly storeDir: string;
  /** Absent: any free port. */
  readonly port?: number;
  readonly log: Logger;
}

/** How long the server may take to be ready. */
const readyMs = 15_000;

/**
 * Starts `nats-server` with JetStream on loopback, and ends it when it is disposed or when this process ends, however that
 * happens. Throws a Failure when the program is missing, the port is taken or the store cannot be opened.
 */
export async function startNatsServer(
  { storeDir, port: wanted, log }: NatsServerOptions,
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
  const port = wanted ?? (await freePort());
  const args = [
    "--addr",
    "127.0.0.1",
    "--port",
    String(port),
    "--jetstream",
    "--store_dir",
    storeDir,
  ];
  const [command, ...rest] = [...deathWithParent(), program, ...args];
  const child = spawn(command ?? program, rest, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit").then(() => undefined);
  try {
    await untilReady(child, port, signal);
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
      const hurry = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(hurry);
    },
  };
}

/** The kernel ends the child with its parent; elsewhere a shell watches the parent. */
function deathWithParent(): readonly string[] {
  const setpriv = findProgram("setpriv");
  if (setpriv !== undefined) return [setpriv, "--pdeathsig", "KILL", "--"];
  const watch = `"$@" & child=$!
trap 'kill -TERM $child' TERM INT
while kill -0 ${process.pid} 2>/dev/null && kill -0 $child 2>/dev/null; do sleep 0.5; done
kill -KILL $child 2>/dev/null; wait $child`;
  return ["/bin/sh", "-c", watch, "sh"];
}

async function untilReady(child: ChildProcess, port: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  const refuse = (why: string) =>
    reject(
      new Failure("unavailable", ErrorReason.UNAVAILABLE, `nats-server on port ${port} ${why}`),
    );
  const read = (chunk: Buffer) => {
    said += chunk.toString();
    if (said.includes("Server is ready")) resolve();
  };
  const exit = () => refuse(`ended at once: ${lastComplaint(said)}`);
  const abort = () => reject(signal.reason as Error);
  const late = setTimeout(() => refuse(`was not ready within ${readyMs / 1000} s`), readyMs);
  child.stderr?.on("data", read);
  child.once("exit", exit);
  child.once("error", exit);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    await promise;
  } finally {
    clearTimeout(late);
    child.stderr?.off("data", read);
    child.off("exit", exit);
    signal.removeEventListener("abort", abort);
  }
}

function lastComplaint(said: string): string {
  const lines = said.trim().split("\n");
  const fatal = lines.findLast((line) => line.includes("[FTL]") || line.includes("[ERR]"));
  return (fatal ?? lines.at(-1) ?? "").replace(/^.*?\[(?:FTL|ERR)\]\s*/, "");
}

/** The path of a program, or undefined when it is not on the PATH. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  // Packages of servers often install where only root's PATH reaches.
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  // A TCP listener has an address and a port.
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
