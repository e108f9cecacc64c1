import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";

const log = createLogger("test", "silent");
const timeoutMs = 120_000;

/** A NATS server for one test, which can be killed and started again with the same store. */
export class NatsBench implements AsyncDisposable {
  readonly #storeDir = mkdtempSync(join(tmpdir(), "reeve-log-"));
  readonly #connections: Nats[] = [];
  readonly #signal: AbortSignal | undefined;
  #server: NatsServer | undefined;

  private constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Without a signal, each start of the server and each connection may take `timeoutMs`. */
  static async open(signal?: AbortSignal): Promise<NatsBench> {
    const bench = new NatsBench(signal);
    bench.#server = await startNatsServer({ storeDir: bench.#storeDir, log }, bench.#until);
    return bench;
  }

  get storeDir(): string {
    return this.#storeDir;
  }

  get port(): number {
    return this.#running.port;
  }

  async connect(port: number = this.port): Promise<Nats> {
    const options = { name: "test", log };
    const nats = await connectNats(`nats://127.0.0.1:${port}`, options, this.#until);
    this.#connections.push(nats);
    return nats;
  }

  /** Kills the server with SIGKILL. */
  async kill(): Promise<void> {
    process.kill(this.#running.pid, "SIGKILL");
    await this.#running[Symbol.asyncDispose]();
  }

  async restart(): Promise<void> {
    const { port } = this.#running;
    this.#server = await startNatsServer({ storeDir: this.#storeDir, port, log }, this.#until);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const nats of this.#connections) await nats.connection.close();
    await this.#running[Symbol.asyncDispose]();
    rmSync(this.#storeDir, { recursive: true, force: true });
  }

  /** One for each use: a time limit of the bench would be one of all tests of its file. */
  get #until(): AbortSignal {
    return this.#signal ?? AbortSignal.timeout(timeoutMs);
  }

  get #running(): NatsServer {
    if (this.#server === undefined) throw new Error("the server was never started");
    return this.#server;
  }
}

/** Resolves when `nats` is connected again. */
export async function reconnected({ connection }: Nats): Promise<void> {
  for await (const { type } of connection.status()) if (type === "reconnect") return;
}
