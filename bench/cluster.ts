import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { freePort } from "../test/support/free-ports.ts";
import { bundledServices } from "./environment/bundled-services.ts";
import { imageEnvironment } from "./environment/image-environment.ts";
import type { Usage } from "./process-usage.ts";
import { usageOf } from "./process-usage.ts";
import { Program } from "./program.ts";
import { startModel, writeMcpConfig } from "./surroundings.ts";
import { warmCompileCache } from "./environment/warm-compile-cache.ts";

const tenant = "bench";

function tokenOf(of: string): string {
  return `${of}-token-0123456789`;
}

export interface ClusterOptions {
  /** Additional settings of the services, by environment variable. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The names of more tenants. */
  readonly tenants?: readonly string[];
}

export type ServiceName = "gateway" | "runtime" | "toolhost" | "approvals";

/** The log message with which each service reports that it is ready; a runtime's contains its worker name. */
const ready: Readonly<Record<ServiceName, RegExp>> = {
  gateway: /(gateway listens)/,
  runtime: /"worker":"([^"]+)".*runtime works/,
  toolhost: /(toolhost started)/,
  approvals: /(approvals listens)/,
};

/** The services as separate processes from bundles, with any number of runtimes, a NATS server, and a model without latency. */
export class Cluster implements AsyncDisposable {
  readonly reeve: Connection;
  readonly modelUrl: string;
  readonly natsUrl: string;
  readonly url: string;
  /** Of a person with all roles. */
  readonly token: string = tokenOf(tenant);
  readonly #server: NatsServer;
  readonly #environment: NodeJS.ProcessEnv;
  /** The services by name; a runtime by its worker's name. */
  readonly #processes = new Map<string, Program>();
  readonly #resources: AsyncDisposableStack;

  private constructor(
    server: NatsServer,
    { url, modelUrl }: { readonly url: string; readonly modelUrl: string },
    environment: NodeJS.ProcessEnv,
    resources: AsyncDisposableStack,
  ) {
    this.url = url;
    this.#resources = resources;
    this.reeve = this.as(tenant);
    this.natsUrl = server.url;
    this.modelUrl = modelUrl;
    this.#server = server;
    this.#environment = environment;
  }

  /** Connects as a tenant. */
  as(name: string): Connection {
    return this.#resources.use(openConnection({ address: this.url, token: tokenOf(name) }));
  }

  static async start(
    runtimes: number,
    signal: AbortSignal,
    { settings = {}, tenants = [] }: ClusterOptions = {},
  ): Promise<Cluster> {
    await using starting = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-"));
    starting.defer(() => rmSync(folder, { recursive: true, force: true }));
    const modelUrl = await startModel(starting, signal);
    const log = createLogger("bench", "silent");
    const server = starting.use(
      await startNatsServer({ storeDir: join(folder, "nats"), log }, signal),
    );
    const [gateway, approvals] = [await freePort(), await freePort()];
    const environment = {
      ...process.env,
      ...imageEnvironment(),
      REEVE_NATS_URL: server.url,
      REEVE_DATA_DIR: folder,
      REEVE_INDEX_DIR: join(folder, "index"),
      REEVE_LISTEN: `127.0.0.1:${gateway}`,
      REEVE_APPROVALS_LISTEN: `127.0.0.1:${approvals}`,
      REEVE_APPROVALS_URL: `http://127.0.0.1:${approvals}`,
      REEVE_INTERNAL_TOKEN: "internal-token-0123456789",
      REEVE_TOKENS: [tenant, ...tenants].map((name) => `${tokenOf(name)}=${name}/driver`).join(","),
      REEVE_MCP_CONFIG: writeMcpConfig(folder),
      REEVE_SCRIPTS: join(import.meta.dirname, "scripts"),
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: modelUrl,
      ...settings,
    };
    const url = `http://127.0.0.1:${gateway}`;
    const cluster = new Cluster(server, { url, modelUrl }, environment, starting.move());
    try {
      // Tools and models must be announced before the first request.
      await cluster.startService("toolhost", signal);
      for (let count = 0; count < runtimes; count++) await cluster.startService("runtime", signal);
      await cluster.startService("approvals", signal);
      await cluster.startService("gateway", signal);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts a service. Resolves with its name when it is ready; a runtime's is that of its worker. */
  async startService(name: ServiceName, signal: AbortSignal): Promise<string> {
    const main = join(await bundledServices(), `${name}.mjs`);
    const probe = join(import.meta.dirname, "process-probe.ts");
    const args = ["--expose-gc", "--import", probe, main];
    const environment = { ...this.#environment, NODE_COMPILE_CACHE: warmCompileCache(args) };
    const program = new Program(args, { environment, reads: "stderr" });
    const said = await program.says(ready[name], signal).catch(async (error: unknown) => {
      await program[Symbol.asyncDispose]();
      throw error;
    });
    const known = name === "runtime" ? said : name;
    this.#processes.set(known, program);
    return known;
  }

  /** Kills a service, as a power failure would. */
  async kill(name: string): Promise<void> {
    await this.#processes.get(name)?.kill();
    this.#processes.delete(name);
  }

  /** Kills a service (the first, for runtimes) and restarts it. */
  async restart(service: ServiceName, signal: AbortSignal): Promise<void> {
    const name = [...this.#processes.keys()].find((known) => known.startsWith(service));
    await this.kill(name ?? service);
    await this.startService(service, signal);
  }

  /** The names of the processes, without NATS and the model. */
  get names(): readonly string[] {
    return [...this.#processes.keys()];
  }

  /** CPU time and memory of each process, with NATS, without the model. */
  usage(): ReadonlyMap<string, Usage> {
    const pids = [...this.#processes].map(([name, { pid }]) => [name, pid] as const);
    return new Map(
      [...pids, ["nats", this.#server.pid] as const].map(([name, pid]) => [name, usageOf(pid)]),
    );
  }

  /** Returns the heap bytes that each Reeve process retains after garbage collection. */
  async keptBytes(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const kept = [...this.#processes].map(
      async ([name, program]) => [name, await program.keptBytes(signal)] as const,
    );
    return new Map(await Promise.all(kept));
  }

  /** Returns the longest time for which the event loop of a process was busy at once, since it was last asked. */
  async longestBlockMs(name: string, signal: AbortSignal): Promise<number> {
    return (await this.#processes.get(name)?.longestBlockMs(signal)) ?? Number.NaN;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#processes.values()].map((program) => program[Symbol.asyncDispose]()),
    );
    await this.#resources.disposeAsync();
  }
}
