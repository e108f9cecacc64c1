import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { duplexPair } from "node:stream";
import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { permitsHost } from "@reeve/agent/spec/network-entry";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { NetworkUse } from "../port.ts";
import { AddressGuard, privateRanges } from "./address-guard.ts";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { Connection, Target } from "./call-traffic.ts";
import { CallTraffic } from "./call-traffic.ts";
import { forwardRequest, ambiguityOf } from "./forward-request.ts";
import type { SecretExchange } from "./forward-with-secrets.ts";
import { redactionOf } from "./forward-with-secrets.ts";
import { refusalOfMethod } from "./forward-with-secrets.ts";
import type { Lookups } from "./lookups.ts";
import type { HostConnection, RouteOptions } from "./connect-to-host.ts";
import { connectToHost } from "./connect-to-host.ts";
import type { NetworkCredential } from "./network-credential.ts";
import { CallCredentials } from "./network-credential.ts";
import { pipeTunnel } from "./pipe-tunnel.ts";
import { refuseTunnel, targetOfTunnel, targetOfUrl } from "./proxy-messages.ts";
import { secureSocket } from "./secure-socket.ts";

const maxSockets = 64;
const headersMs = 15_000;

export interface SandboxProxyOptions {
  readonly entries: readonly NetworkEntry[];
  readonly ranges: readonly string[];
  readonly maxBytes: number;
  readonly lookups: Lookups;
  readonly log: Pick<Logger, "info">;
  /** Default: it adds nothing to requests. */
  readonly credentials?: readonly NetworkCredential[] | undefined;
}

/**
 * The HTTP proxy of one sandbox, the only way to the network for its commands. Supports tunnels by CONNECT and plain requests
 * with absolute URLs. Sends plain requests for the hosts of a credential over TLS, with its header. Connections outside of a call
 * are closed at once.
 */
export class SandboxProxy implements AsyncDisposable {
  readonly #options: SandboxProxyOptions;
  readonly #route: RouteOptions;
  readonly #server = createServer({ headersTimeout: headersMs, requestTimeout: 0 });
  #call: Call | undefined;

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

  /** Returns a connection to the proxy from within this process. */
  connect(): Duplex {
    const [client, served] = duplexPair();
    client.once("close", () => served.destroy());
    served.once("close", () => {
      // What it has written before is still delivered.
      if (!served.writableFinished) client.destroy();
    });
    this.#server.emit("connection", served);
    return client;
  }

  /** Serves one call. Disposing ends the call and all its connections. Throws a Failure if the call names an unknown credential. */
  serve(use: NetworkUse): Disposable {
    const { maxBytes, log, credentials: all = [] } = this.#options;
    const credentials = new CallCredentials(all, use.credentials);
    const call = { traffic: new CallTraffic(use, maxBytes, log), credentials };
    this.#call = call;
    return {
      [Symbol.dispose]: () => {
        if (this.#call === call) this.#call = undefined;
        call.traffic[Symbol.dispose]();
        this.#server.closeAllConnections();
      },
    };
  }

  /** Continues with another call of the same run, for what the call that it serves has started. */
  renew(use: NetworkUse): void {
    this.#call?.traffic.renew(use);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#call?.traffic[Symbol.dispose]();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const target = targetOfTunnel(request.url ?? "");
    const call = this.#call;
    const connection = call?.traffic.open(target);
    if (call === undefined || connection === undefined) return void client.destroy();
    connection.attach(client);
    const refusal = this.#refusal(call, target);
    const connected = await this.#connect(call, { target, refusal, connection });
    if (connected.kind !== "open") return refuseTunnel(client, connected);
    pipeTunnel(connection, { client, head, socket: connected.socket });
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? "");
    const target = url?.protocol === "http:" ? targetOfUrl(url) : undefined;
    const call = this.#call;
    const connection = call?.traffic.open(target);
    if (call === undefined || connection === undefined) return void request.socket.destroy();
    const hasSecrets = target !== undefined && call.credentials.has(target);
    const problem = ambiguityOf(request) ?? (hasSecrets ? refusalOfMethod(request) : undefined);
    if (problem !== undefined) {
      connection.fail("refused", problem);
      return answer(response, 400, problem);
    }
    const refusal = this.#refusal(call, target) ?? (target && call.credentials.refusal(target));
    const connected = await this.#connect(call, { target, refusal, connection });
    if (connected.kind !== "open") {
      return answer(response, connected.kind === "refused" ? 403 : 502, connected.reason);
    }
    if (url === null) return;
    try {
      const opened = hasSecrets
        ? await this.#secure(call, { target, connection, socket: connected.socket })
        : connected;
      if (opened.kind === "open") {
        return forwardRequest(request, response, { url, connection, ...opened });
      }
      connection.end(opened.reason);
      answer(response, 502, opened.reason);
    } catch (error) {
      connection.end("broken off");
      throw error;
    }
  }

  /** Returns why a call may not connect to a target; undefined if it may. */
  #refusal({ traffic }: Call, target: Target | undefined): string | undefined {
    return traffic.refusal() ?? refusalOf(target, this.#options.entries);
  }

  async #connect(
    { traffic }: Call,
    { target, refusal, connection }: Attempt,
  ): Promise<HostConnection> {
    const connected: HostConnection =
      refusal !== undefined || target === undefined
        ? { kind: "refused", reason: refusal ?? "the target is not valid" }
        : await connectToHost(target.host, target.port, this.#route, traffic.signal);
    if (connected.kind === "open") connection.attach(connected.socket);
    else connection.fail(connected.kind, connected.reason);
    return connected;
  }

  /** Reads the secrets for a target, and starts TLS. */
  async #secure(
    { traffic: { signal }, credentials }: Call,
    { target, connection, socket }: SecureAttempt,
  ): Promise<Secured | Unconnected> {
    try {
      const { names, headers, ca, ...added } = await credentials.headersFor(target, signal);
      const secured = await secureSocket(socket, { host: target.host, ca }, signal);
      if (secured.kind !== "open") return secured;
      connection.useCredentials(names);
      connection.attach(secured.socket);
      const exchange = { headers, target, redaction: redactionOf(added.secrets) };
      return { kind: "open", socket: secured.socket, secrets: exchange };
    } catch (error) {
      if (error instanceof Failure) return { kind: "failed", reason: error.message };
      throw error;
    }
  }
}

/** The call that the proxy serves. */
interface Call {
  readonly traffic: CallTraffic;
  readonly credentials: CallCredentials;
}

/** A connection that a call wants. */
interface Attempt {
  readonly target: Target | undefined;
  readonly refusal: string | undefined;
  readonly connection: Connection;
}

interface SecureAttempt {
  readonly target: Target;
  readonly connection: Connection;
  readonly socket: Socket;
}

type Unconnected = Exclude<HostConnection, { readonly kind: "open" }>;

/** A connection on which a request with secrets may be sent. */
interface Secured {
  readonly kind: "open";
  readonly socket: Socket;
  readonly secrets: SecretExchange;
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
  return `${host}:${port} is not among the hosts that may be reached here: ${list}`;
}
