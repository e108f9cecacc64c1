import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { issueCredentials, writeServerUsers } from "@reeve/jetstream/access/server-users";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { defaultAckWaitMs } from "@reeve/platform/process/settings";
import type { ServerOptions } from "@reeve/client";
import { freePort } from "../../support/free-ports.ts";
import { Link } from "./link.ts";
import type { Service } from "./member.ts";
import { Member } from "./member.ts";
import { inheritedEnv } from "../../support/inherited-env.ts";

const root = join(import.meta.dirname, "../../..");
const log = createLogger("chaos", "silent");
const never = new AbortController().signal;
const token = "chaos-token-0123456789";
/** The tenant that belongs to the token. */
export const tenant = "acme";
const services: readonly Service[] = ["toolhost", "runtime", "approvals", "gateway"];
/** The number of processes of each service. */
const processesPerService = 2;
const maxStarts = 5;

export interface ClusterOptions {
  /** Base URL of the models, and where the counter outside of the sandboxes is. */
  readonly modelsUrl: string;
  readonly counterUrl: string;
  /** Whether each toolhost has its own disk. Absent: they share one. */
  readonly ownDisks?: boolean | undefined;
  /** Folder for the logs of the services. */
  readonly logs?: string | undefined;
  readonly onTrouble: (what: string) => void;
  /** A clock in milliseconds that stands still while the store does: a process that starts without a store waits for it. */
  readonly storeNow: () => number;
  /** Further settings of the services. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** The NATS servers to which the processes connect in turn. Absent: one, which the cluster starts. */
  readonly store?: ProvidedStore | undefined;
}

/** NATS servers on which everything is provisioned, and their users. */
export interface ProvidedStore {
  readonly servers: readonly ChaosServer[];
  readonly credentials: Credentials;
}

/** The credentials of each service and of the operator. */
type Credentials = ReturnType<typeof issueCredentials>;

/** A NATS server that others start and end. */
export interface ChaosServer {
  readonly url: string;
  readonly port: number;
}

/** Two processes of each service and one NATS server, with a breakable link between any two of them. */
export class Cluster implements AsyncDisposable {
  readonly members: readonly Member[];
  /** A direct connection to NATS, which no link fault affects. */
  readonly nats: Nats;
  readonly #folder: string;
  /** The server that this cluster started. */
  #server: NatsServer | undefined;

  private constructor(
    folder: string,
    server: NatsServer | undefined,
    { nats, members }: { readonly nats: Nats; readonly members: readonly Member[] },
  ) {
    this.#folder = folder;
    this.#server = server;
    this.nats = nats;
    this.members = members;
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-chaos-"));
    // Sandboxes must be able to access files below this folder.
    chmodSync(folder, 0o711);
    if (options.logs !== undefined) mkdirSync(options.logs, { recursive: true });
    const env = { COUNTER_URL: options.counterUrl };
    const args = [join(root, "services/toolhost/test/support/counter-server.ts")];
    const mcp = { servers: { counter: { command: process.execPath, args, env, sandbox: false } } };
    writeFileSync(join(folder, "mcp.json"), JSON.stringify(mcp));
    const credentials = options.store?.credentials ?? issueCredentials();
    const server = options.store === undefined ? await startServer(folder, credentials) : undefined;
    const servers = server === undefined ? (options.store?.servers ?? []) : [server];
    const operator = { name: "operator", log, ...credentials.operator };
    const nats = await connectNats(servers[0]?.url ?? "", operator, never);
    if (server !== undefined) {
      // The services may not create streams and buckets.
      const pools = { pools: ["default"], ackWaitMs: defaultAckWaitMs };
      await provisionStreams(nats, pools, never);
      await provisionBuckets(nats, never);
    }
    const members: Member[] = [];
    for (const service of services) {
      for (let number = 1; number <= processesPerService; number++) {
        const surroundings = { servers, credentials, folder, members, options };
        members.push(await memberOf(service, number, surroundings));
      }
    }
    await Promise.all(members.map((member) => member.start()));
    return new Cluster(folder, server, { nats, members });
  }

  /** The addresses of the gateways. */
  get addresses(): readonly ServerOptions[] {
    return this.of("gateway").map(({ clientLink }) => ({
      address: `http://127.0.0.1:${clientLink?.port ?? 0}`,
      token,
    }));
  }

  /** The workspace folders: one shared by all toolhosts, or one for each. */
  get workspaces(): readonly string[] {
    const disks = this.of("toolhost").map(({ name }) => join(this.#folder, name, "workspaces"));
    return [join(this.#folder, "workspaces"), ...disks];
  }

  of(service: Service): readonly Member[] {
    return this.members.filter((member) => member.service === service);
  }

  signalNats(signal: NodeJS.Signals): void {
    process.kill(this.#own.pid, signal);
  }

  /** Kills the NATS server, as a power failure would. */
  async killNats(): Promise<void> {
    this.signalNats("SIGKILL");
    await this.#own[Symbol.asyncDispose]();
  }

  /** Restarts the NATS server with its port and data. */
  async startNats(): Promise<void> {
    const { port } = this.#own;
    const store = storeBelow(this.#folder);
    for (let attempt = 1; ; attempt++) {
      try {
        this.#server = await startNatsServer({ ...store, port, log }, never);
        return;
      } catch (error) {
        // A busy machine may need longer than the server's start timeout.
        if (attempt === maxStarts) throw error;
      }
    }
  }

  get #own(): NatsServer {
    if (this.#server === undefined) throw new Error("others started the NATS servers");
    return this.#server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()));
    await this.nats[Symbol.asyncDispose]();
    await this.#server?.[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Where the server of the cluster keeps its data and its users. */
function storeBelow(folder: string) {
  return { storeDir: join(folder, "nats"), configFile: join(folder, "nats.conf") };
}

async function startServer(folder: string, credentials: Credentials): Promise<NatsServer> {
  const store = storeBelow(folder);
  writeServerUsers(store.configFile, credentials);
  return await startNatsServer({ ...store, port: await freePort(), log }, never);
}

interface Surroundings {
  readonly servers: readonly ChaosServer[];
  readonly credentials: Credentials;
  readonly folder: string;
  readonly members: readonly Member[];
  readonly options: ClusterOptions;
}

async function memberOf(
  service: Service,
  number: number,
  { servers, credentials, folder, members, options }: Surroundings,
): Promise<Member> {
  const server = servers[members.length % servers.length];
  if (server === undefined) throw new Error("there is no NATS server");
  const natsLink = await Link.to(server.port);
  const listens = service === "gateway" || service === "approvals" ? await freePort() : undefined;
  const clientLink = listens === undefined ? undefined : await Link.to(listens);
  const approvals = members.find(({ name }) => name === `approvals-${number}`);
  const environment = {
    ...inheritedEnv,
    REEVE_NATS_URL: `nats://127.0.0.1:${natsLink.port}`,
    REEVE_NATS_USER: credentials[service].user,
    REEVE_NATS_PASSWORD: credentials[service].pass,
    REEVE_DATA_DIR: options.ownDisks === true ? join(folder, `${service}-${number}`) : folder,
    REEVE_SANDBOX: "bubblewrap",
    REEVE_LISTEN: `127.0.0.1:${listens ?? 0}`,
    REEVE_APPROVALS_LISTEN: `127.0.0.1:${listens ?? 0}`,
    REEVE_APPROVALS_URL: `http://127.0.0.1:${approvals?.clientLink?.port ?? 0}`,
    REEVE_INTERNAL_TOKEN: "internal-token-0123456789",
    REEVE_TOKENS: `${token}=${tenant}/chaos`,
    REEVE_MCP_CONFIG: join(folder, "mcp.json"),
    REEVE_DRAIN_MS: "3000",
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: options.modelsUrl,
    ...options.settings,
  };
  return new Member({
    service,
    name: `${service}-${number}`,
    natsLink,
    ...(clientLink && { clientLink }),
    environment,
    clockFile: join(folder, `${service}-${number}.clock`),
    logs: options.logs,
    onTrouble: options.onTrouble,
    storeNow: options.storeNow,
  });
}
