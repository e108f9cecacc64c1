import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { findProgram } from "@reeve/platform/nats/nats-server";
import type { Link } from "./link.ts";

const root = join(import.meta.dirname, "../../..");
const linesKept = 20;
/** How long a process may take to its start, and to its end in order. */
const startMs = 90_000;
const endMs = 30_000;

export type Service = "gateway" | "runtime" | "toolhost" | "approvals";

/** How each service says that it is ready. */
const ready: Readonly<Record<Service, string>> = {
  gateway: "gateway listens",
  runtime: "runtime works",
  toolhost: "toolhost started",
  approvals: "approvals listens",
};

export interface MemberOptions {
  readonly service: Service;
  /** Name of this process among those of its service: `runtime-1`. */
  readonly name: string;
  /** Its way to NATS. */
  readonly way: Link;
  /** The way of others to it, where it listens. */
  readonly door?: Link;
  readonly environment: Readonly<Record<string, string>>;
  /** Folder for what it logs. */
  readonly logs?: string | undefined;
  /** Hears what should not happen to a process: that it ends by itself, or does not start or end when it should. */
  readonly onTrouble: (what: string) => void;
}

/** A process of a service, and one after another at its place: started again whenever it ended by itself. */
export class Member implements AsyncDisposable {
  readonly service: Service;
  readonly name: string;
  readonly way: Link;
  readonly door: Link | undefined;
  /** Ids by which journals know the toolhosts that were here. */
  readonly hosts = new Set<string>();
  readonly #options: MemberOptions;
  readonly #said: string[] = [];
  #child: ChildProcess | undefined;
  #isWanted = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.service = options.service;
    this.name = options.name;
    this.way = options.way;
    this.door = options.door;
  }

  /** Resolves when the process says that it is ready. */
  async start(): Promise<void> {
    this.#isWanted = true;
    const late = setTimeout(
      () => this.#trouble(`is not ready after ${startMs / 1_000} s`),
      startMs,
    );
    try {
      await this.#launch();
    } finally {
      clearTimeout(late);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends it at once, as a power cut would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends it in order, as whoever rolls out a new version does. */
  async end(): Promise<void> {
    const late = setTimeout(() => {
      this.#trouble(`has not ended ${endMs / 1_000} s after SIGTERM`);
      this.signal("SIGKILL");
    }, endMs);
    const code = await this.#end("SIGTERM");
    clearTimeout(late);
    if (code !== 0) this.#trouble(`ended with ${code} after SIGTERM`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.way[Symbol.asyncDispose]();
    await this.door?.[Symbol.asyncDispose]();
  }

  async #launch(): Promise<void> {
    const program = [process.execPath, join(root, `services/${this.service}/src/main.ts`)];
    const setpriv = findProgram("setpriv");
    // Nothing outlives whoever tests it, however that ends.
    const tied = setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
    const [command = "", ...rest] = [...tied, ...program];
    const child = spawn(command, rest, {
      env: { ...this.#options.environment },
      stdio: ["ignore", "inherit", "pipe"],
    });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<void>();
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#hear(line);
      if (line.includes(ready[this.service])) resolve();
    });
    child.once("exit", (code, signal) => {
      if (!this.#isWanted || this.#child !== child) return resolve();
      this.#trouble(`ended by itself with ${code ?? signal}`);
      void this.#launch().then(resolve);
    });
    await promise;
  }

  #hear(line: string): void {
    const { logs } = this.#options;
    if (logs !== undefined) appendFileSync(join(logs, `${this.name}.log`), `${line}\n`);
    this.#said.push(line);
    if (this.#said.length > linesKept) this.#said.shift();
    const host = /"host":"(toolhost-\w+)"/.exec(line)?.[1];
    if (host !== undefined) this.hosts.add(host);
  }

  async #end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return 0;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    return child.exitCode ?? child.signalCode;
  }

  #trouble(what: string): void {
    this.#options.onTrouble(
      `${this.name} ${what}; it said last:\n    ${this.#said.join("\n    ")}`,
    );
  }
}
