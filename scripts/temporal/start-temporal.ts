import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { PreparedTemporal } from "./prepare-temporal.ts";
import type { ServerPorts } from "./server-config.ts";
import { limitsFile, serverConfig } from "./server-config.ts";

/** The part of the client of Temporal that is used here. */
interface Connection {
  readonly workflowService: {
    registerNamespace(request: object): Promise<unknown>;
    describeNamespace(request: object): Promise<unknown>;
    describeWorkflowExecution(request: object): Promise<unknown>;
  };
  withDeadline<Result>(deadlineMs: number, request: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface TemporalServerOptions {
  /** Where the database is. A server that is started again with the same folder continues with it. */
  readonly folder: string;
  readonly ports: ServerPorts;
  /** See `limitsFile`. */
  readonly historyEvents?: number;
}

const namespace = "default";
const startMs = 60_000;

/** A server of Temporal with the namespace `default`. Disposing it ends it, as `kill` does. */
export class TemporalServer implements AsyncDisposable {
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(address: string, child: ChildProcess) {
    this.address = address;
    this.#child = child;
  }

  /** Starts a server, and waits until workflows can be started. */
  static async start(
    { server, sdk }: PreparedTemporal,
    { folder, ports, historyEvents }: TemporalServerOptions,
  ): Promise<TemporalServer> {
    mkdirSync(join(folder, "config"), { recursive: true });
    const limits = join(folder, "limits.yaml");
    writeFileSync(limits, limitsFile(historyEvents));
    const files = { database: join(folder, "temporal.db"), limits };
    writeFileSync(join(folder, "config/server.yaml"), serverConfig(ports, files));
    const args = ["--root", folder, "--config", "config", "--env", "server"];
    const child = spawn(server, [...args, "--allow-no-auth", "start"], {
      cwd: folder,
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "ignore", process.env["REEVE_TEMPORAL_LOG"] ? "inherit" : "ignore"],
    });
    const started = new TemporalServer(`127.0.0.1:${ports.frontend}`, child);
    try {
      await started.#untilReady(sdk);
      return started;
    } catch (error) {
      await started.kill();
      throw error;
    }
  }

  /** Kills it, as a power failure would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #untilReady(sdk: string): Promise<void> {
    const { Connection } = createRequire(join(sdk, "package.json"))("@temporalio/client");
    const endMs = Date.now() + startMs;
    for (;;) {
      try {
        const connection: Connection = await Connection.connect({
          address: this.address,
          connectTimeout: 1_000,
        });
        try {
          return await connection.withDeadline(endMs, () => this.#untilNamespace(connection));
        } finally {
          await connection.close();
        }
      } catch (error) {
        if (this.#child.exitCode !== null) {
          throw new Error(`the server of Temporal ended with ${this.#child.exitCode}`, {
            cause: error,
          });
        }
        if (Date.now() > endMs) throw error;
        await sleep(200);
      }
    }
  }

  async #untilNamespace({ workflowService }: Connection): Promise<void> {
    const retention = { seconds: 86_400 };
    const request = { namespace, workflowExecutionRetentionPeriod: retention };
    await workflowService.registerNamespace(request).catch((error: unknown) => {
      if (!String(error).includes("already")) throw error;
    });
    // Each part of the server has a cache of the namespaces.
    for (;;) {
      const execution = { workflowId: "none" };
      const answer = await workflowService
        .describeWorkflowExecution({ namespace, execution })
        .catch(String);
      if (String(answer).toLowerCase().includes("workflow")) return;
      await sleep(100);
    }
  }
}
