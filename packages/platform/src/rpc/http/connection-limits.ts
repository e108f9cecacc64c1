import type { Server, Socket } from "node:net";
import type { Logger } from "../../telemetry/logger.ts";
import type { ServerLimits } from "../server-limits.ts";
import { addressGroup } from "./address-group.ts";

/** The shortest time between two log lines about refused connections. */
const logIntervalMs = 10_000;

type Limits = Pick<ServerLimits, "maxConnections" | "maxConnectionsPerAddress">;

/** Counts the connections of a server in total and by address, and refuses those over the limits. */
export class ConnectionLimits {
  readonly #limits: Limits;
  readonly #log: Logger;
  readonly #ofAddress = new Map<string, number>();
  #refused = 0;
  #loggedAt = -Infinity;

  constructor(server: Server, limits: Limits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
    server.maxConnections = limits.maxConnections;
    server.on("drop", (data) => this.#refuse(data?.remoteAddress ?? ""));
  }

  /** Returns whether a new connection is within the limits. One that is not is closed. */
  accepts(socket: Socket): boolean {
    const address = addressGroup(socket.remoteAddress ?? "");
    const open = this.#ofAddress.get(address) ?? 0;
    if (open >= this.#limits.maxConnectionsPerAddress) {
      socket.destroy();
      this.#refuse(address);
      return false;
    }
    this.#ofAddress.set(address, open + 1);
    socket.once("close", () => this.#closed(address));
    return true;
  }

  #closed(address: string): void {
    const left = (this.#ofAddress.get(address) ?? 0) - 1;
    if (left > 0) this.#ofAddress.set(address, left);
    else this.#ofAddress.delete(address);
  }

  #refuse(address: string): void {
    this.#refused++;
    if (performance.now() - this.#loggedAt < logIntervalMs) return;
    this.#loggedAt = performance.now();
    this.#log.warn({ address, refused: this.#refused }, "too many connections; refused some");
    this.#refused = 0;
  }
}
