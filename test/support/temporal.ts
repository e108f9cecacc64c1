import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Environment } from "@reeve/platform/config";
import type { PreparedTemporal } from "../../scripts/temporal/prepare-temporal.ts";
import { prepareTemporal } from "../../scripts/temporal/prepare-temporal.ts";
import type { ServerPorts } from "../../scripts/temporal/server-config.ts";
import { portNames } from "../../scripts/temporal/server-config.ts";
import { TemporalServer } from "../../scripts/temporal/start-temporal.ts";
import { freePorts } from "./free-ports.ts";

/** The programs of Temporal, or why they are not there. The first build takes minutes, so somebody has to ask for it. */
export type TemporalPrograms =
  | ({ readonly kind: "ready" } & PreparedTemporal)
  | { readonly kind: "missing"; readonly reason: string };

/** Prepares the programs of Temporal, if tests should use them and the go command can build them. */
export async function temporalPrograms(): Promise<TemporalPrograms> {
  if (process.env["REEVE_TEMPORAL"] !== "1") {
    return { kind: "missing", reason: "REEVE_TEMPORAL is not 1" };
  }
  try {
    return { kind: "ready", ...(await prepareTemporal()) };
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isMissing) throw error;
    return { kind: "missing", reason: error.message };
  }
}

/** A server of Temporal for tests, which can be killed and started again with its data. */
export class TestTemporal implements AsyncDisposable {
  readonly #programs: PreparedTemporal;
  readonly #folder = mkdtempSync(join(tmpdir(), "reeve-temporal-"));
  readonly #ports: ServerPorts;
  readonly #historyEvents: number | undefined;
  #server: TemporalServer | undefined;

  private constructor(programs: PreparedTemporal, ports: ServerPorts, historyEvents?: number) {
    this.#programs = programs;
    this.#ports = ports;
    this.#historyEvents = historyEvents;
  }

  static async start(
    programs: TemporalPrograms,
    { historyEvents }: { readonly historyEvents?: number } = {},
  ): Promise<TestTemporal> {
    if (programs.kind === "missing") throw new Error(programs.reason);
    const free = await freePorts(portNames.length);
    const ports = Object.fromEntries(portNames.map((name, index) => [name, free[index]]));
    // Every name has a port.
    const started = new TestTemporal(programs, ports as ServerPorts, historyEvents);
    await started.restart();
    return started;
  }

  /** The settings of runtimes that use it. */
  get settings(): Environment {
    return {
      REEVE_EXECUTOR: "temporal",
      REEVE_TEMPORAL_ADDRESS: `127.0.0.1:${this.#ports.frontend}`,
      REEVE_TEMPORAL_SDK: this.#programs.sdk,
    };
  }

  async restart(): Promise<void> {
    await this.kill();
    const historyEvents = this.#historyEvents;
    this.#server = await TemporalServer.start(this.#programs, {
      folder: this.#folder,
      ports: this.#ports,
      ...(historyEvents !== undefined && { historyEvents }),
    });
  }

  async kill(): Promise<void> {
    await this.#server?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
