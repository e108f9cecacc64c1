import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ClusterServer, Credentials } from "./cluster-server.ts";
import { configOf, systemUser } from "./cluster-server.ts";
import { freePorts } from "./free-ports.ts";
import { copiesOf, metaLeaderSeenBy, streamSeenBy, streamsOf } from "./nats-monitor.ts";
import { natsProgram } from "./nats-program.ts";
import { TracedDisk } from "./traced-disk.ts";

/** How long a cluster may take to reach a state. */
const timeoutMs = 180_000;
const pollMs = 50;
/** How long copies of streams may take to catch up. */
const catchUpMs = 15_000;
/** How long a request may take before it is sent again. */
const requestMs = 2_000;
const log = createLogger("test", "silent");

export interface NatsClusterOptions {
  /** The program of each server. Default: `natsProgram()`. */
  readonly program?: string;
  /** Default: 3. */
  readonly servers?: number;
  /** The credentials that clients need. Default: none. */
  readonly credentials?: Credentials;
  /** Further users, with their permissions. Default: none. */
  readonly users?: readonly Credentials[];
  /** What the servers may store together for clients; every replica counts. Default: what the disks hold. */
  readonly maxStoreBytes?: number;
  /** Whether servers write to disk before they acknowledge. Default: false. */
  readonly syncAlways?: boolean;
  /** Whether servers can lose power. Needs `canTraceDisks`. Default: false. */
  readonly losesPower?: boolean;
  /** Returns the port over which the server `from` reaches `to`. Default: the route port of `to`. */
  routeVia?(from: string, to: ClusterServer): Promise<number>;
}

/** A cluster of NATS servers with JetStream on loopback. Each is a process of its own that ends with this process. */
export class NatsCluster implements AsyncDisposable {
  #servers: readonly ClusterServer[];
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
    this.#servers = servers;
    this.#folder = folder;
    this.#options = options;
  }

  /** Starts the servers. Resolves when each of them knows the leader of the cluster. */
  static async start(options: NatsClusterOptions = {}): Promise<NatsCluster> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-cluster-"));
    const count = options.servers ?? 3;
    const servers: ClusterServer[] = [];
    for (let number = 1; number <= count; number++) {
      const ports = await freePorts(3);
      servers.push(serverOf(`nats-${number}`, folder, ports));
    }
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

  /** Running or not. */
  get servers(): readonly ClusterServer[] {
    return this.#servers;
  }

  /** The URL of the first server. Clients learn the others from it. */
  get url(): string {
    return this.#servers[0]?.url ?? "";
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
  async connect(name?: string): Promise<Nats> {
    const { user, password: pass } = this.#options.credentials ?? {};
    const url = name === undefined ? this.url : this.server(name).url;
    const options = { name: "test", log, ...(user !== undefined && { user, pass }) };
    const nats = await connectNats(url, options, AbortSignal.timeout(timeoutMs));
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
    // One that could not start has ended by itself.
    const isRunning = server.exitCode === null && server.signalCode === null;
    server.kill("SIGKILL");
    if (isRunning) await once(server, "exit");
    this.#running.delete(name);
  }

  /** Kills servers, and removes what they had not written to their disks. */
  async losePower(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.kill(name)));
    await Promise.all(names.map((name) => this.#diskOf(name).losePower()));
  }

  /**
   * Removes a server for good, and adds one with another name and an empty store at its port for clients. Resolves with the new
   * name when the other servers have given it a copy of everything.
   */
  async replace(name: string): Promise<string> {
    const { clientPort, storeDir } = this.server(name);
    const [routePort = 0, monitorPort = 0] = await freePorts(2);
    const numbers = this.#servers.map((each) => Number(each.name.slice("nats-".length)));
    const added = `nats-${Math.max(...numbers) + 1}`;
    const server = serverOf(added, this.#folder, [clientPort, routePort, monitorPort]);
    await this.kill(name);
    rmSync(storeDir, { recursive: true });
    this.#servers = this.#servers.map((each) => (each.name === name ? server : each));
    this.#routes.set(added, await this.#routesOf(added));
    this.#spawn(added);
    await this.ready();
    await this.#asked("$JS.API.SERVER.REMOVE", JSON.stringify({ peer: name }), systemUser);
    for (const stream of await streamsOf(this.#up())) await this.whole(stream);
    return added;
  }

  /**
   * Takes everything from a server that it stored, and starts it again under the same name. Resolves when the other servers have
   * given it a copy of everything.
   */
  async loseDisk(name: string): Promise<void> {
    await this.kill(name);
    rmSync(this.server(name).storeDir, { recursive: true });
    this.#spawn(name);
    await this.ready();
    for (const stream of await streamsOf(this.#up())) await this.whole(stream);
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
      return (await copiesOf(this.#up(), stream)) === replicas - 1 ? true : undefined;
    });
  }

  /** Makes the leader of a stream step down. Resolves with the next leader's name, which may be the same. */
  async stepDown(stream: string): Promise<string> {
    await this.#asked(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, "");
    return await this.leaderOf(stream);
  }

  /** Returns the streams of which some server has not everything, after it had time to catch up. */
  async streamsBehind(): Promise<readonly string[]> {
    const behind: string[] = [];
    const givesUpAt = performance.now() + catchUpMs;
    for (const stream of await streamsOf(this.#up())) {
      const lacks = async () => (await copiesOf(this.#up(), stream)) !== this.servers.length - 1;
      while ((await lacks()) && performance.now() < givesUpAt) await wait(pollMs);
      if (await lacks()) behind.push(stream);
    }
    return behind;
  }

  /** Sends a request to the API of JetStream until it succeeds. It is lost if its leader ends or changes meanwhile. */
  async #asked(
    subject: string,
    body: string,
    { user, password: pass }: Partial<typeof systemUser> = this.#options.credentials ?? {},
  ): Promise<void> {
    const options = { name: "test", log, ...(user !== undefined && { user, pass }) };
    await this.#until(`answer to ${subject}`, async () => {
      for (const { url } of this.#up()) {
        await using nats = await connectNats(url, options, AbortSignal.timeout(timeoutMs));
        const sent = nats.connection.request(subject, body, { timeout: requestMs });
        const answer = await sent.catch(() => undefined);
        const { success } = answer?.json<{ readonly success?: boolean }>() ?? {};
        if (success === true) return true;
      }
      return undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { connection } of this.#connections) await connection.close().catch(() => undefined);
    await Promise.all([...this.#running.keys()].map((name) => this.kill(name)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(name: string, program = this.#options.program ?? natsProgram()): void {
    const file = join(this.#folder, `${name}.conf`);
    const { credentials, users = [], maxStoreBytes, routeVia } = this.#options;
    const { syncAlways = false, losesPower = false } = this.#options;
    const settings = {
      credentials,
      users,
      maxStoreBytes,
      syncAlways,
      hidden: routeVia !== undefined,
    };
    const routes = this.#routes.get(name) ?? [];
    const config = configOf(this.server(name), { ...settings, routes });
    // NATS reads JSON.
    writeFileSync(file, JSON.stringify(config));
    const setpriv = findProgram("setpriv");
    // `setpriv` replaces itself by the server, which therefore has the child's process id.
    const owned = setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
    const traced = losesPower ? this.#diskOf(name).command : [];
    const [command, ...args] = [...owned, ...traced, program, "--config", file];
    this.#running.set(name, spawn(command, args, { stdio: "ignore" }));
  }

  #diskOf(name: string): TracedDisk {
    return new TracedDisk(join(this.#folder, `${name}.trace`));
  }

  async #routesOf(from: string): Promise<readonly number[]> {
    const { routeVia } = this.#options;
    const others = this.servers.filter(({ name }) => name !== from);
    return await Promise.all(
      others.map(async (to) => (routeVia ? await routeVia(from, to) : to.routePort)),
    );
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
      await wait(pollMs);
    }
    throw new Error(`no ${what} after ${timeoutMs} ms`);
  }
}

function serverOf(name: string, folder: string, ports: readonly number[]): ClusterServer {
  const [clientPort = 0, routePort = 0, monitorPort = 0] = ports;
  const url = `nats://127.0.0.1:${clientPort}`;
  return { name, url, clientPort, routePort, monitorPort, storeDir: join(folder, name) };
}
