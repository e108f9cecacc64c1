import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { programFile } from "@reeve/platform/test/support/program-file";
import { inheritedEnv } from "../../support/inherited-env.ts";

/** Reeve as `npm start` runs it: all services in one process, with its own NATS server. */
export class SingleProcess implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "reeve-single-"));
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #reeve: Connection | undefined;

  private constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  static async start(settings: Readonly<Record<string, string>>): Promise<SingleProcess> {
    const single = new SingleProcess(settings);
    await single.restart();
    return single;
  }

  /** A client of the current process. */
  get reeve(): Connection {
    if (this.#reeve === undefined) throw new Error("Reeve was never started");
    return this.#reeve;
  }

  /** Starts the process, with what an earlier one has stored. Resolves when it answers. */
  async restart(): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        programFile("reeve"),
        "--data-dir",
        join(this.#folder, "data"),
        "up",
        "--listen",
        "127.0.0.1:0",
      ],
      {
        env: {
          ...inheritedEnv,
          REEVE_SANDBOX: "bubblewrap",
          ...this.#settings,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const said: string[] = [];
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on("line", (line) => {
        said.push(line);
        const address = /up at (http:\S+)/.exec(line)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${said.join("\n")}`)));
    const address = await promise;
    const token = readFileSync(join(this.#folder, "data/token"), "utf8").trim();
    this.#reeve?.[Symbol.dispose]();
    this.#reeve = openConnection({ address, token });
  }

  /** Creates an agent. `tools`: those that it may use, of the MCP server `srv`. Default: it has none. */
  async agent(id: string, model: string, tools?: readonly string[]): Promise<void> {
    const offered = tools && {
      mcpServers: ["srv"],
      allowedTools: fromJson(ListValueSchema, [...tools]),
    };
    const spec = create(AgentSpecSchema, { id, name: id, model, ...offered });
    await this.reeve.agents.createAgent({ spec });
  }

  /** Kills the process, as a power failure would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reeve?.[Symbol.dispose]();
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
