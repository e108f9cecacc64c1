import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { issueCredentials, writeServerUsers } from "@reeve/jetstream/access/server-users";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { defaultAckWaitMs } from "@reeve/platform/process/settings";
import { programFile } from "@reeve/platform/test/support/program-file";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { freePorts } from "../../support/free-ports.ts";
import { inheritedEnv } from "../../support/inherited-env.ts";

const token = "test-token-0123456789";
const log = createLogger("test", "silent");
const never = new AbortController().signal;

export type ServiceName = "gateway" | "runtime" | "toolhost" | "approvals";
/** A service process: the first or the second of its service. */
export type Instance = ServiceName | `${ServiceName}-2`;

type Settings = Readonly<Record<string, string>>;

/** The log message with which each service reports that it is ready. */
const ready: Readonly<Record<ServiceName, string>> = {
  gateway: "gateway listens",
  runtime: "runtime works",
  toolhost: "toolhost started",
  approvals: "approvals listens",
};

function serviceOf(instance: Instance): ServiceName {
  // An instance name without its suffix is the name of its service.
  return instance.replace(/-2$/, "") as ServiceName;
}

/** The address of a process's probes, once it is known. */
interface Probes {
  readonly url: Promise<string>;
}

interface DeploymentParts {
  /** The authority of the certificates of gateway and approvals. Undefined: they have no TLS. */
  readonly ca: Buffer | undefined;
  readonly ports: readonly number[];
  readonly credentials: ReturnType<typeof issueCredentials>;
  readonly settings: Settings;
  /** The URL at which the services reach NATS. */
  readonly natsUrl: string;
}

/** The four services as separate processes, with a NATS server and scripted models. */
export class Deployment implements AsyncDisposable {
  readonly reeve: Connection;
  /** A client of the second gateway, which works once that gateway is started. */
  readonly second: Connection;
  readonly secondUrl: string;
  readonly nats: Nats;
  readonly url: string;
  readonly token = token;
  /** What all processes have written to their logs. */
  readonly logged: string[] = [];
  #server: NatsServer;
  readonly #credentials: DeploymentParts["credentials"];
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #seconds: Settings;
  readonly #processes = new Map<Instance, ChildProcess>();
  readonly #probes = new Map<Instance, Probes>();

  private constructor(
    server: NatsServer,
    nats: Nats,
    folder: string,
    { ca, ports, credentials, settings, natsUrl }: DeploymentParts,
  ) {
    const scheme = ca === undefined ? "http" : "https";
    const [gateway = 0, approvals = 0, gateway2 = 0, approvals2 = 0] = ports;
    this.#server = server;
    this.#credentials = credentials;
    this.#folder = folder;
    this.nats = nats;
    this.url = `${scheme}://127.0.0.1:${gateway}`;
    this.#environment = {
      ...inheritedEnv,
      REEVE_NATS_URL: natsUrl,
      REEVE_DATA_DIR: folder,
      REEVE_LISTEN: `127.0.0.1:${gateway}`,
      REEVE_APPROVALS_LISTEN: `127.0.0.1:${approvals}`,
      REEVE_APPROVALS_URL: `${scheme}://127.0.0.1:${approvals}`,
      REEVE_INTERNAL_TOKEN: "internal-token-0123456789",
      REEVE_TOKENS: `${token}=acme/tester`,
      REEVE_SCRIPTS: join(import.meta.dirname, "scripts"),
      REEVE_MCP_CONFIG: join(folder, "mcp.json"),
      REEVE_SANDBOX: "bubblewrap",
      ...settings,
    };
    this.#seconds = {
      REEVE_LISTEN: `127.0.0.1:${gateway2}`,
      REEVE_APPROVALS_LISTEN: `127.0.0.1:${approvals2}`,
    };
    this.reeve = openConnection({ address: this.url, token, ca });
    this.secondUrl = `${scheme}://127.0.0.1:${gateway2}`;
    this.second = openConnection({ address: this.secondUrl, token, ca });
  }

  /**
   * `settings` are further environment variables of the services, which may depend on the port of the gateway. The contents of `files` are written to files, and the
   * settings of the same names contain their paths. With `ca`, gateway and approvals have certificates of this authority.
   * `through` returns the URL at which the services reach the NATS server at a URL, such as that of a proxy.
   */
  static async start(
    settings: Settings | ((port: number) => Settings) = {},
    files: Settings = {},
    ca?: Buffer,
    through?: (url: string) => Promise<string>,
  ): Promise<Deployment> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-test-"));
    const mcp = { command: process.execPath, args: [programFile("progress-server")] };
    const servers = { srv: { ...mcp, sandbox: false } };
    writeFileSync(join(folder, "mcp.json"), JSON.stringify({ servers }));
    const [port = 0, ...ports] = await freePorts(5);
    const given = typeof settings === "function" ? settings(ports[0] ?? 0) : settings;
    const credentials = issueCredentials();
    const configFile = join(folder, "nats.conf");
    const runShards = Number(given["REEVE_RUN_SHARDS"] ?? 1);
    writeServerUsers(configFile, credentials, runShards);
    const storeDir = join(folder, "nats");
    const server = await startNatsServer({ storeDir, port, configFile, log }, never);
    const operator = { name: "operator", log, ...credentials.operator };
    const nats = await connectNats(server.url, operator, never);
    // The services may not create streams and buckets.
    const ackWaitMs = Number(given["REEVE_ACK_WAIT_MS"] ?? defaultAckWaitMs);
    await provisionStreams(nats, { pools: ["default"], ackWaitMs, runShards }, never);
    await provisionBuckets(nats, never);
    const deployment = new Deployment(server, nats, folder, {
      ca,
      ports,
      credentials,
      settings: { ...given, ...written(folder, files) },
      natsUrl: (await through?.(server.url)) ?? server.url,
    });
    try {
      await Promise.all(
        (Object.keys(ready) as ServiceName[]).map((name) => deployment.start(name)),
      );
    } catch (error) {
      // The other processes would keep the test process alive.
      await deployment[Symbol.asyncDispose]();
      throw error;
    }
    return deployment;
  }

  /**
   * Starts a service as a process with further settings, by default from this checkout, otherwise from the sources in `folder`.
   * Resolves when it reports that it is ready.
   */
  async start(instance: Instance, settings: Settings = {}, folder?: string): Promise<void> {
    const name = serviceOf(instance);
    const { user, pass } = this.#credentials[name];
    const env = {
      ...this.#environment,
      REEVE_NATS_USER: user,
      REEVE_NATS_PASSWORD: pass,
      ...(instance !== name && this.#seconds),
      ...settings,
    };
    const main =
      folder === undefined ? programFile(name) : join(folder, `services/${name}/src/main.ts`);
    const child = spawn(process.execPath, [main], {
      env,
      stdio: ["ignore", "inherit", "pipe"],
    });
    this.#processes.set(instance, child);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const probes = Promise.withResolvers<string>();
    this.#probes.set(instance, { url: probes.promise });
    const said: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => {
      said.push(line);
      this.logged.push(line);
      if (line.includes("probes are answered")) probes.resolve(urlIn(line));
      if (line.includes(ready[name])) resolve();
    });
    child.once("exit", (code) =>
      reject(new Error(`${instance} ended with ${code}: ${said.join("\n")}`)),
    );
    await promise;
  }

  /** Resolves with the address of a started service's probes. */
  async probesOf(instance: Instance): Promise<string> {
    return (await this.#probes.get(instance)?.url) ?? "";
  }

  /** The folder with the data of NATS and of the services. */
  get folder(): string {
    return this.#folder;
  }

  /** The environment of commands of the operator. */
  get operatorEnvironment(): Settings {
    const { user, pass } = this.#credentials.operator;
    return { ...this.#environment, REEVE_NATS_USER: user, REEVE_NATS_PASSWORD: pass };
  }

  /** Returns the id of a service's current process. */
  pidOf(instance: Instance): number {
    return this.#processes.get(instance)?.pid ?? 0;
  }

  signal(instance: Instance, signal: NodeJS.Signals): void {
    this.#processes.get(instance)?.kill(signal);
  }

  /** Ends a service gracefully, and calls `whileEnding` once it releases its resources. Resolves with its exit code. */
  async end(instance: Instance, whileEnding?: () => void): Promise<number | null> {
    const child = this.#processes.get(instance);
    if (child === undefined) throw new Error(`${instance} was never started`);
    const ended = once(child, "exit");
    child.stderr?.on("data", (text: Buffer) => {
      if (text.includes("service stopped")) whileEnding?.();
    });
    child.kill("SIGTERM");
    await ended;
    return child.exitCode;
  }

  /** Kills a service, as a power failure would. */
  async kill(instance: Instance): Promise<void> {
    const child = this.#processes.get(instance);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Kills the NATS server, as a power failure would. */
  async killNats(): Promise<void> {
    process.kill(this.#server.pid, "SIGKILL");
    await this.#server[Symbol.asyncDispose]();
  }

  /** Restarts the NATS server with its port and data. */
  async startNats(): Promise<void> {
    const { port } = this.#server;
    const storeDir = join(this.#folder, "nats");
    const configFile = join(this.#folder, "nats.conf");
    this.#server = await startNatsServer({ storeDir, port, configFile, log }, never);
  }

  /** Creates an agent that plays a script from the folder beside this file. */
  async agent(id: string, spec: MessageInitShape<typeof AgentSpecSchema> = {}): Promise<void> {
    await this.reeve.agents.createAgent({
      spec: create(AgentSpecSchema, { id, name: id, model: `scripted:${id}`, ...spec }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reeve[Symbol.dispose]();
    this.second[Symbol.dispose]();
    await Promise.all([...this.#processes.keys()].map((instance) => this.kill(instance)));
    await this.nats[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function urlIn(line: string): string {
  return (JSON.parse(line) as { readonly url: string }).url;
}

/** Writes the files and returns their paths. */
function written(folder: string, files: Settings): Settings {
  return Object.fromEntries(
    Object.entries(files).map(([setting, content]) => {
      const path = join(folder, `${setting}.yaml`);
      writeFileSync(path, content);
      return [setting, path];
    }),
  );
}
