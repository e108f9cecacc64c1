import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { programFile } from "@reeve/platform/test/support/program-file";
import type { Link } from "./link.ts";

const root = join(import.meta.dirname, "../../..");
const steppedClock = join(root, "test/chaos/stepped-clock.ts");
const linesKept = 20;
/** Timeouts for the start and the graceful end of a process. */
const startMs = 240_000;
const lookMs = 1_000;
const endMs = 30_000;

export type Service = "gateway" | "runtime" | "toolhost" | "approvals";

/** The log message with which each service reports that it is ready. */
const ready: Readonly<Record<Service, string>> = {
  gateway: "gateway listens",
  runtime: "runtime works",
  toolhost: "toolhost started",
  approvals: "approvals listens",
};

export interface MemberOptions {
  readonly service: Service;
  /** Name of this process, such as `runtime-1`. */
  readonly name: string;
  /** Its link to NATS. */
  readonly natsLink: Link;
  /** The link of clients to it, if it listens. */
  readonly clientLink?: Link;
  readonly environment: Readonly<Record<string, string>>;
  /** The file that says how far its clock is ahead. */
  readonly clockFile: string;
  /** Folder for its logs. */
  readonly logs?: string | undefined;
  /** Receives unexpected events: the process crashed, or did not start or end in time. */
  readonly onTrouble: (what: string) => void;
  /** A clock in milliseconds that stands still while the store does. */
  readonly storeNow: () => number;
}

/** A process of a service. Restarts it when it crashes. */
export class Member implements AsyncDisposable {
  readonly service: Service;
  readonly name: string;
  readonly natsLink: Link;
  readonly clientLink: Link | undefined;
  /** The host ids of the toolhosts that ran in this place, as journals record them. */
  readonly hosts = new Set<string>();
  readonly #options: MemberOptions;
  readonly #lastLines: string[] = [];
  #child: ChildProcess | undefined;
  #isWanted = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.service = options.service;
    this.name = options.name;
    this.natsLink = options.natsLink;
    this.clientLink = options.clientLink;
  }

  /** Resolves when the process reports that it is ready. */
  async start(): Promise<void> {
    this.#isWanted = true;
    const beganAt = this.#options.storeNow();
    const looks = setInterval(() => {
      if (this.#options.storeNow() - beganAt < startMs) return;
      clearInterval(looks);
      this.#trouble(`is not ready after ${startMs / 1_000} s with a store`);
    }, lookMs);
    try {
      await this.#launch();
    } finally {
      clearInterval(looks);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Sets its wall clock ahead of the machine's, or back. */
  setClock(aheadMs: number): void {
    writeFileSync(this.#options.clockFile, String(aheadMs));
  }

  /** Kills it, as a power failure would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends it gracefully, as a rolling update does. */
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
    await this.natsLink[Symbol.asyncDispose]();
    await this.clientLink?.[Symbol.asyncDispose]();
  }

  async #launch(): Promise<void> {
    const program = [process.execPath, "--import", steppedClock, programFile(this.service)];
    const setpriv = findProgram("setpriv");
    // The process must not outlive the test, even if the test is killed.
    const tied = setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
    const [command = "", ...rest] = [...tied, ...program];
    const child = spawn(command, rest, {
      env: { ...this.#options.environment, CHAOS_CLOCK_FILE: this.#options.clockFile },
      stdio: ["ignore", "inherit", "pipe"],
    });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<void>();
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#onLine(line);
      if (line.includes(ready[this.service])) resolve();
    });
    child.once("exit", (code, signal) => {
      if (!this.#isWanted || this.#child !== child) return resolve();
      this.#trouble(`crashed with ${code ?? signal}`);
      void this.#launch().then(resolve);
    });
    await promise;
  }

  #onLine(line: string): void {
    const { logs } = this.#options;
    if (logs !== undefined) appendFileSync(join(logs, `${this.name}.log`), `${line}\n`);
    this.#lastLines.push(line);
    if (this.#lastLines.length > linesKept) this.#lastLines.shift();
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
      `${this.name} ${what}; its last log lines:\n    ${this.#lastLines.join("\n    ")}`,
    );
  }
}
