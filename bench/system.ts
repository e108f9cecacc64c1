import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Reeve } from "../cli/src/client.ts";
import { openReeve } from "../cli/src/client.ts";

const root = join(import.meta.dirname, "..");
const ticksPerSecond = 100;
const pageBytes = 4096;

/** Reeve as `npm start` runs it, in a process of its own, beside a model that answers at once in another. */
export class System implements AsyncDisposable {
  readonly reeve: Reeve;
  readonly modelUrl: string;
  readonly #folder: string;
  readonly #served: ChildProcess;
  readonly #model: ChildProcess;

  private constructor(
    reeve: Reeve,
    modelUrl: string,
    folder: string,
    processes: readonly ChildProcess[],
  ) {
    const [served, model] = processes;
    if (served === undefined || model === undefined) throw new Error("two processes are needed");
    this.reeve = reeve;
    this.modelUrl = modelUrl;
    this.#folder = folder;
    this.#served = served;
    this.#model = model;
  }

  static async start(): Promise<System> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
    const mcp = join(root, "services/toolhost/test/support/progress-server.ts");
    const servers = { srv: { command: process.execPath, args: [mcp] } };
    writeFileSync(join(folder, "mcp.json"), JSON.stringify({ servers }));
    const model = spawn(
      process.execPath,
      [join(root, "test/support/model-server.ts"), "--port", "0"],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const modelUrl = await lineOf(model, /(http:\S+)/);
    const up = [
      join(root, "cli/bin/reeve.mjs"),
      "--data-dir",
      join(folder, "data"),
      "up",
      "--listen",
      "127.0.0.1:0",
    ];
    const served = spawn(process.execPath, up, {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        REEVE_LOG_LEVEL: "error",
        OPENAI_API_KEY: "none",
        OPENAI_BASE_URL: modelUrl,
        REEVE_MCP_CONFIG: join(folder, "mcp.json"),
        REEVE_SCRIPTS: join(import.meta.dirname, "scripts"),
      },
    });
    const url = await lineOf(served, /up at (http:\S+)/);
    const token = readFileSync(join(folder, "data/token"), "utf8").trim();
    return new System(openReeve({ url, token }), modelUrl, folder, [served, model]);
  }

  /** Processor time and memory of Reeve with its NATS server, without the model. */
  usage(): { readonly cpuMs: number; readonly rssBytes: number } {
    let cpuMs = 0;
    let rssBytes = 0;
    for (const pid of descendants(this.#served.pid ?? 0)) {
      // The name of a program may have spaces; what comes after its bracket has none.
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      cpuMs += ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
      rssBytes += Number(fields[21]) * pageBytes;
    }
    return { cpuMs, rssBytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reeve[Symbol.dispose]();
    for (const child of [this.#served, this.#model]) {
      if (child.exitCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.once("exit", (code) => reject(new Error(`a process ended with ${code}`)));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  }
  return await promise;
}

function descendants(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      parents.set(Number(name), Number(fields[1]));
    } catch {
      // It ended between the list and the look.
    }
  }
  const found = [pid];
  for (const parent of found) {
    for (const [child, of] of parents) if (of === parent) found.push(child);
  }
  return found;
}
