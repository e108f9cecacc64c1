import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Usage } from "./process-usage.ts";
import { usageOf } from "./process-usage.ts";
import { Program } from "./program.ts";
import { startModel, writeMcpConfig } from "./surroundings.ts";

const root = join(import.meta.dirname, "..");

export interface SystemOptions {
  /** Base URL of the model server. Absent: a new one in a separate process. */
  readonly modelUrl?: string;
  /** Additional settings of the services, by environment variable. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Reeve as `npm start` runs it, in a separate process, with a model without latency in another. */
export class System implements AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly reeve: Connection;
  readonly modelUrl: string;
  /** The file with the settings for a connection to the NATS server as its operator. */
  readonly natsFile: string;
  readonly #served: Program;
  readonly #resources: AsyncDisposableStack;

  private constructor(
    given: Pick<System, "url" | "token" | "reeve" | "modelUrl" | "natsFile">,
    served: Program,
    resources: AsyncDisposableStack,
  ) {
    this.url = given.url;
    this.token = given.token;
    this.reeve = given.reeve;
    this.modelUrl = given.modelUrl;
    this.natsFile = given.natsFile;
    this.#served = served;
    this.#resources = resources;
  }

  /** Starts everything. The tools are those of the MCP servers `srv` (of the tests) and `bench`. */
  static async start({ settings = {}, ...given }: SystemOptions, signal: AbortSignal) {
    await using starting = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
    starting.defer(() => rmSync(folder, { recursive: true, force: true }));
    const mcpConfig = writeMcpConfig(folder);
    const modelUrl = given.modelUrl ?? (await startModel(starting, signal));
    const served = starting.use(
      new Program(
        [
          "--expose-gc",
          "--import",
          join(import.meta.dirname, "process-probe.ts"),
          join(root, "cli/bin/reeve.mjs"),
          "--data-dir",
          join(folder, "data"),
          "up",
          "--listen",
          "127.0.0.1:0",
        ],
        {
          environment: {
            ...process.env,
            REEVE_LOG_LEVEL: "error",
            OPENAI_API_KEY: "none",
            OPENAI_BASE_URL: modelUrl,
            REEVE_MCP_CONFIG: mcpConfig,
            REEVE_SANDBOX: "bubblewrap",
            REEVE_SCRIPTS: join(import.meta.dirname, "scripts"),
            ...settings,
          },
        },
      ),
    );
    const url = await served.says(/up at (http:\S+)/, signal);
    const token = readFileSync(join(folder, "data/token"), "utf8").trim();
    const reeve = starting.use(openConnection({ address: url, token }));
    const natsFile = join(folder, "data/nats.env");
    return new System({ url, token, reeve, modelUrl, natsFile }, served, starting.move());
  }

  /** Connects to the NATS server as its operator. */
  async connectNats(signal: AbortSignal): Promise<Nats> {
    const {
      REEVE_NATS_URL: url = "",
      REEVE_NATS_USER: user,
      REEVE_NATS_PASSWORD: pass,
    } = parseEnv(readFileSync(this.natsFile, "utf8"));
    const log = createLogger("bench", "error");
    return await connectNats(url, { name: "bench", log, user, pass }, signal);
  }

  /** CPU time and memory of Reeve with its NATS server, without the model. */
  usage(): Usage {
    return usageOf(this.#served.pid);
  }

  /** Returns the heap bytes that the Reeve process retains after garbage collection. */
  keptBytes(signal: AbortSignal): Promise<number> {
    return this.#served.keptBytes(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}
