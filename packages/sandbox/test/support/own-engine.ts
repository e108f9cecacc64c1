import type { ChildProcess } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { vi } from "vitest";
import { Engine } from "../../src/docker/engine.ts";

const run = promisify(execFile);
const signal = new AbortController().signal;

/** Returns why the tests cannot start their own engine; undefined if they can. */
export function whyNoOwnEngine(): string | undefined {
  if (process.geteuid?.() !== 0) return "only root can start an engine";
  const folders = (process.env["PATH"] ?? "").split(":").concat("/usr/sbin");
  const has = (program: string) => folders.some((folder) => existsSync(join(folder, program)));
  return ["dockerd", "containerd", "docker"].every(has) ? undefined : "dockerd is not installed";
}

/** A private container engine that tests can kill and restart. It has one image of another engine. */
export class OwnEngine implements AsyncDisposable {
  readonly address: string;
  readonly #folder: string;
  #engine: ChildProcess | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
    this.address = `unix://${join(folder, "engine.sock")}`;
  }

  /** Starts an engine. Returns undefined if that fails, or throws if `REEVE_ENGINE` is `required`. */
  static async start(image: string, from: string): Promise<OwnEngine | undefined> {
    const engine = new OwnEngine(await mkdtemp(join(tmpdir(), "reeve-engine-")));
    try {
      await engine.start();
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      if (process.env["REEVE_ENGINE"] === "required") throw error;
      return undefined;
    }
    try {
      const saving = spawn("docker", ["-H", from, "save", image]);
      const loading = spawn("docker", ["-H", engine.address, "load", "--quiet"]);
      const loaded = once(loading, "exit");
      await pipeline(saving.stdout, loading.stdin);
      await loaded;
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
    return engine;
  }

  async start(): Promise<void> {
    const path = (name: string) => join(this.#folder, name);
    const folders = ["--data-root", path("data"), "--exec-root", path("run")];
    const identity = ["--pidfile", path("pid"), "-H", this.address, "--log-level", "fatal"];
    const noNetwork = ["--iptables=false", "--ip6tables=false", "--bridge=none"];
    const environment = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` };
    this.#engine = spawn("dockerd", [...folders, ...identity, ...noNetwork], {
      stdio: "ignore",
      env: environment,
    });
    await vi.waitFor(() => new Engine(this.address).ping(signal), {
      timeout: 30_000,
      interval: 100,
    });
  }

  /** Kills the engine, but not its containers. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
    // The next engine would take the named processes for alive until they are reaped.
    for (const name of ["pid", "run/containerd/containerd.pid"]) {
      await rm(join(this.#folder, name), { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    // A killed engine leaves its containerd, a shim for each container, and its mounts.
    for (const pid of processesNaming(this.#folder)) killIfAlive(pid);
    const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
    for (const mount of mounts.map((line) => line.split(" ")[1] ?? "").toReversed()) {
      if (mount.startsWith(`${this.#folder}/`)) await run("umount", ["-l", mount]);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(how: NodeJS.Signals): Promise<void> {
    const engine = this.#engine;
    if (engine === undefined || engine.exitCode !== null || engine.signalCode !== null) return;
    const ended = once(engine, "exit");
    engine.kill(how);
    await ended;
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

/** Returns the ids of processes with `folder` in their arguments. */
function processesNaming(folder: string): readonly number[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((path) => {
    try {
      return readFileSync(path, "utf8").includes(`${folder}/`) ? [Number(path.split("/")[2])] : [];
    } catch {
      return [];
    }
  });
}
