import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { permitsHost } from "@reeve/agent/spec/network-entry";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { NetworkUse } from "../port.ts";
import { AddressGuard, privateRanges } from "./address-guard.ts";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { Connection, Target } from "./call-traffic.ts";
import { CallTraffic } from "./call-traffic.ts";
import { forwardRequest, ambiguityOf } from "./forward-request.ts";
import type { Lookups } from "./lookups.ts";
import type { HostConnection, RouteOptions } from "./connect-to-host.ts";
import { connectToHost } from "./connect-to-host.ts";
import { pipeTunnel } from "./pipe-tunnel.ts";
import { refuseTunnel, targetOfTunnel, targetOfUrl } from "./proxy-messages.ts";

const maxSockets = 64;
const headersMs = 15_000;

export interface SandboxProxyOptions {
  readonly entries: readonly NetworkEntry[];
  readonly ranges: readonly string[];
  readonly maxBytes: number;
  readonly lookups: Lookups;
  readonly log: Pick<Logger, "info">;
}

/**
 * The HTTP proxy of one sandbox, the only way to the network for its commands. Supports tunnels by CONNECT and plain requests
 * with absolute URLs. Connections outside of a call are closed at once.
 */
export class SandboxProxy implements AsyncDisposable {
  readonly #options: SandboxProxyOptions;
  readonly #route: RouteOptions;
  readonly #server = createServer({ headersTimeout: headersMs, requestTimeout: 0 });
  #traffic: CallTraffic | undefined;

  constructor(options: SandboxProxyOptions) {
    const guard = new AddressGuard(options.ranges, privateRanges);
    this.#options = options;
    this.#route = { guard, lookups: options.lookups, lookupMutex: new Semaphore(1) };
    this.#server.maxConnections = maxSockets;
    // An error must end its own connection only.
    this.#server.on("request", (request, response) => {
      for (const each of [request, response]) each.on("error", () => undefined);
      this.#forward(request, response).catch(() => request.socket.destroy());
    });
    this.#server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
      client.on("error", () => undefined);
      this.#tunnel(request, client, head).catch(() => client.destroy());
    });
    this.#server.on("clientError", (_, client) => client.destroy());
  }

  /** Listens on a Unix socket. */
  async listen(path: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.on("error", reject);
    this.#server.listen(path, resolve);
    await promise;
  }

  /** Serves one call. Disposing ends the call and all its connections. */
  serve(use: NetworkUse): Disposable {
    const { maxBytes, log } = this.#options;
    const traffic = new CallTraffic(use, maxBytes, log);
    this.#traffic = traffic;
    return {
      [Symbol.dispose]: () => {
        if (this.#traffic === traffic) this.#traffic = undefined;
        traffic[Symbol.dispose]();
        this.#server.closeAllConnections();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#traffic?.[Symbol.dispose]();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const target = targetOfTunnel(request.url ?? "");
    const connection = this.#traffic?.open(target);
    if (connection === undefined) return void client.destroy();
    connection.attach(client);
    const connected = await this.#connect(target, connection);
    if (connected.kind !== "open") return refuseTunnel(client, connected);
    pipeTunnel(connection, { client, head, socket: connected.socket });
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? "");
    const target = url?.protocol === "http:" ? targetOfUrl(url) : undefined;
    const connection = this.#traffic?.open(target);
    if (connection === undefined) return void request.socket.destroy();
    const problem = ambiguityOf(request);
    if (problem !== undefined) {
      connection.fail("refused", problem);
      return answer(response, 400, problem);
    }
    const connected = await this.#connect(target, connection);
    if (connected.kind === "open" && url !== null) {
      try {
        return forwardRequest(request, response, { url, socket: connected.socket, connection });
      } catch (error) {
        connection.end("broken off");
        throw error;
      }
    }
    if (connected.kind === "open") return;
    answer(response, connected.kind === "refused" ? 403 : 502, connected.reason);
  }

  async #connect(target: Target | undefined, connection: Connection): Promise<HostConnection> {
    const { entries } = this.#options;
    const traffic = this.#traffic;
    const refusal = traffic?.refusal() ?? refusalOf(target, entries);
    const connected: HostConnection =
      refusal !== undefined || target === undefined || traffic === undefined
        ? { kind: "refused", reason: refusal ?? "no call is in progress" }
        : await connectToHost(target.host, target.port, this.#route, traffic.signal);
    if (connected.kind === "open") connection.attach(connected.socket);
    else connection.fail(connected.kind, connected.reason);
    return connected;
  }
}

function answer(response: ServerResponse, status: number, reason: string): void {
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
  response.writeHead(status, headers).end(`${reason}\n`);
}

function refusalOf(
  target: Target | undefined,
  entries: readonly NetworkEntry[],
): string | undefined {
  if (target === undefined) {
    return "this proxy supports only http:// URLs and CONNECT host:port";
  }
  const { host, port } = target;
  if (permitsHost(entries, host, port)) return undefined;
  const list = entries.map(({ text }) => text).join(", ");
  return `${host}:${port} is not among the hosts that this agent may reach: ${list}`;
}
