import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { freePorts } from "./free-ports.ts";
import { metaLeaderSeenBy, streamSeenBy } from "./nats-monitor.ts";
import { natsProgram } from "./nats-program.ts";

/** How long a cluster may take to reach a state. */
const timeoutMs = 60_000;
const pollMs = 50;
const log = createLogger("test", "silent");

export interface NatsClusterOptions {
  /** The program of each server. Default: `natsProgram()`. */
  readonly program?: string;
  /** Default: 3. */
  readonly servers?: number;
  /** The credentials that clients need. Default: none. */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Whether servers write to disk before they acknowledge. Default: false. */
  readonly syncAlways?: boolean;
  /** Returns the port over which the server `from` reaches `to`. Default: the route port of `to`. */
  routeVia?(from: string, to: ClusterServer): Promise<number>;
}

/** One server of a cluster. Its ports and its store stay the same when it restarts. */
export interface ClusterServer {
  /** `nats-1`, `nats-2` … */
  readonly name: string;
  readonly url: string;
  readonly clientPort: number;
  readonly routePort: number;
  readonly monitorPort: number;
  readonly storeDir: string;
}

/** A cluster of NATS servers with JetStream on loopback. Each is a process of its own that ends with this process. */
export class NatsCluster implements AsyncDisposable {
  readonly servers: readonly ClusterServer[];
  readonly #folder: string;
  readonly #options: NatsClusterOptions;
  readonly #running = new Map<string, ChildProcess>();
  readonly #connections: Nats[] = [];
  /** The ports over which each server reaches the others. */
  readonly #routes = new Map<string, readonly number[]>();

  private constructor(
    servers: readonly ClusterServer[],
    folder: string,
    options: NatsClusterOptions,
  ) {
    this.servers = servers;
    this.#folder = folder;
    this.#options = options;
  }

  /** Starts the servers. Resolves when each of them knows the leader of the cluster. */
  static async start(options: NatsClusterOptions = {}): Promise<NatsCluster> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-cluster-"));
    const count = options.servers ?? 3;
    const ports = await freePorts(3 * count);
    const servers = Array.from({ length: count }, (_, index): ClusterServer => {
      const [clientPort = 0, routePort = 0, monitorPort = 0] = ports.slice(3 * index);
      const name = `nats-${index + 1}`;
      const url = `nats://127.0.0.1:${clientPort}`;
      return { name, url, clientPort, routePort, monitorPort, storeDir: join(folder, name) };
    });
    const cluster = new NatsCluster(servers, folder, options);
    try {
      for (const { name } of servers) cluster.#routes.set(name, await cluster.#routesOf(name));
      for (const { name } of servers) cluster.#spawn(name);
      await cluster.ready();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The URL of the first server. Clients learn the others from it. */
  get url(): string {
    return this.server("nats-1").url;
  }

  server(name: string): ClusterServer {
    const server = this.servers.find((each) => each.name === name);
    if (server === undefined) throw new Error(`the cluster has no server ${name}`);
    return server;
  }

  /** The process id of a running server. */
  pidOf(name: string): number {
    return this.#process(name).pid ?? 0;
  }

  /** Connects to a server; by default to the first. The connection ends with the cluster. */
  async connect(name = "nats-1"): Promise<Nats> {
    const { user, password: pass } = this.#options.credentials ?? {};
    const options = { name: "test", log, ...(user !== undefined && { user, pass }) };
    const nats = await connectNats(this.server(name).url, options, AbortSignal.timeout(timeoutMs));
    this.#connections.push(nats);
    return nats;
  }

  /** Connects to each server, in the order of `servers`. */
  async connectAll(): Promise<readonly Nats[]> {
    return await Promise.all(this.servers.map(({ name }) => this.connect(name)));
  }

  /** Stops a server's processor time: its connections stay open, and nothing answers. */
  pause(name: string): void {
    this.#process(name).kill("SIGSTOP");
  }

  resume(name: string): void {
    this.#process(name).kill("SIGCONT");
  }

  /** Kills a server. It keeps what it stored. */
  async kill(name: string): Promise<void> {
    const server = this.#process(name);
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
    this.#running.delete(name);
  }

  /** Starts a killed server with its ports and its store. Resolves when it knows the leader of the cluster. */
  async restart(name: string, program?: string): Promise<void> {
    this.#spawn(name, program);
    await this.ready();
  }

  /** Starts all servers after each was killed. Resolves when they know the leader of the cluster. */
  async restartAll(): Promise<void> {
    for (const { name } of this.servers) this.#spawn(name);
    await this.ready();
  }

  /** Resolves when every running server knows the leader of the cluster. */
  async ready(): Promise<void> {
    await this.#until("cluster with a leader", async () => {
      const leaders = await Promise.all(this.#up().map((server) => metaLeaderSeenBy(server)));
      return leaders.every((leader) => leader !== undefined) ? true : undefined;
    });
  }

  /** Returns the server that leads a stream, once one other than `before` does. */
  async leaderOf(stream: string, before?: string): Promise<string> {
    return await this.#until(`leader of ${stream}`, async () => {
      const seen = await Promise.all(this.#up().map((server) => streamSeenBy(server, stream)));
      // A server that leads knows it. What the others see may be old.
      const leader = this.#up().find(({ name }, index) => seen[index]?.leader === name);
      return leader !== undefined && leader.name !== before ? leader.name : undefined;
    });
  }

  /** Resolves when one server leads a stream and `replicas - 1` others have all of it. */
  async whole(stream: string, replicas: number = this.servers.length): Promise<void> {
    await this.#until(`whole ${stream}`, async () => {
      const seen = await Promise.all(this.#up().map((server) => streamSeenBy(server, stream)));
      const own = seen.find((view, index) => view?.leader === this.#up()[index]?.name);
      return own?.current === replicas - 1 ? true : undefined;
    });
  }

  /** Makes the leader of a stream step down. Resolves with the next leader's name, which may be the same. */
  async stepDown(stream: string): Promise<string> {
    const { connection } = await this.connect();
    await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, "", { timeout: 10_000 });
    return await this.leaderOf(stream);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { connection } of this.#connections) await connection.close().catch(() => undefined);
    await Promise.all([...this.#running.keys()].map((name) => this.kill(name)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(name: string, program = this.#options.program ?? natsProgram()): void {
    const file = join(this.#folder, `${name}.conf`);
    // NATS reads JSON.
    writeFileSync(file, JSON.stringify(this.#configOf(this.server(name))));
    const setpriv = findProgram("setpriv");
    // `setpriv` replaces itself by the server, which therefore has the child's process id.
    const owned = setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
    const [command, ...args] = [...owned, program, "--config", file];
    this.#running.set(name, spawn(command, args, { stdio: "ignore" }));
  }

  async #routesOf(from: string): Promise<readonly number[]> {
    const { routeVia } = this.#options;
    const others = this.servers.filter(({ name }) => name !== from);
    return await Promise.all(
      others.map(async (to) => (routeVia ? await routeVia(from, to) : to.routePort)),
    );
  }

  #configOf({ name, clientPort, routePort, monitorPort, storeDir }: ClusterServer): object {
    const { credentials, syncAlways = false } = this.#options;
    return {
      server_name: name,
      listen: `127.0.0.1:${clientPort}`,
      http: `127.0.0.1:${monitorPort}`,
      jetstream: { store_dir: storeDir, ...(syncAlways && { sync_interval: "always" }) },
      ...(credentials && { authorization: credentials }),
      cluster: {
        name: "reeve",
        listen: `127.0.0.1:${routePort}`,
        // Otherwise servers and clients learn addresses that bypass the links of a test.
        ...(this.#options.routeVia && { no_advertise: true, advertise: "127.0.0.1:9" }),
        routes: this.#routes.get(name)?.map((port) => `nats-route://127.0.0.1:${port}`),
      },
    };
  }

  #up(): readonly ClusterServer[] {
    return this.servers.filter(({ name }) => this.#running.has(name));
  }

  #process(name: string): ChildProcess {
    const server = this.#running.get(name);
    if (server === undefined) throw new Error(`the server ${name} is not running`);
    return server;
  }

  async #until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (!deadline.aborted) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    throw new Error(`no ${what} after ${timeoutMs} ms`);
  }
}
