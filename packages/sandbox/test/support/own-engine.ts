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
const signal = AbortSignal.timeout(100_000);

/** Why no engine of our own can be started here; undefined where one can. */
export function whyNoOwnEngine(): string | undefined {
  if (process.geteuid?.() !== 0) return "only root starts an engine";
  const folders = (process.env["PATH"] ?? "").split(":").concat("/usr/sbin");
  const has = (program: string) => folders.some((folder) => existsSync(join(folder, program)));
  return ["dockerd", "containerd", "docker"].every(has) ? undefined : "there is no dockerd";
}

/** A container engine that nobody else uses, to be killed and started again. It has one image of another engine. */
export class OwnEngine implements AsyncDisposable {
  readonly address: string;
  readonly #folder: string;
  #engine: ChildProcess | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
    this.address = `unix://${join(folder, "engine.sock")}`;
  }

  /** Undefined where none can be started, unless `REEVE_ENGINE` says that it must. */
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
    const places = ["--data-root", path("data"), "--exec-root", path("run")];
    const rest = ["--pidfile", path("pid"), "-H", this.address, "--log-level", "fatal"];
    const alone = ["--iptables=false", "--ip6tables=false", "--bridge=none"];
    const environment = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` };
    this.#engine = spawn("dockerd", [...places, ...rest, ...alone], {
      stdio: "ignore",
      env: environment,
    });
    await vi.waitFor(() => new Engine(this.address).ping(signal), {
      timeout: 30_000,
      interval: 100,
    });
  }

  /** As a power cut would end the engine alone: what runs in containers is not asked. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
    // The next one takes what they name for alive, as long as nobody has reaped it.
    for (const name of ["pid", "run/containerd/containerd.pid"]) {
      await rm(join(this.#folder, name), { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    // What an engine has left that did not end in order: its containerd, and a shim for each container.
    for (const pid of processesNaming(this.#folder)) endIfThere(pid);
    // What a killed engine had mounted is nobody's.
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

function endIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended since.
  }
}

/** Ids of processes with a folder of ours in their arguments. */
function processesNaming(folder: string): readonly number[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((path) => {
    try {
      return readFileSync(path, "utf8").includes(`${folder}/`) ? [Number(path.split("/")[2])] : [];
    } catch {
      return [];
    }
  });
}
