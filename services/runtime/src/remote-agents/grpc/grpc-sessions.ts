import type { ClientHttp2Stream, Http2Session } from "node:http2";
import { constants } from "node:http2";
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { AddressGuard, privateRanges } from "@reeve/sandbox/network/address-guard";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Remote } from "../remotes-file.ts";

const connectTimeoutMs = 10_000;
/** How long an agent may take to begin its answer, and how long a stream may be silent. */
const silenceMs = 300_000;
/** Detects a lost connection, of which a silent stream shows nothing. */
const pings = { pingIntervalMs: 60_000, pingTimeoutMs: 20_000, idleConnectionTimeoutMs: 60_000 };

/** An agent that sent nothing for too long. */
export class SilentAgent extends ModelFailure {
  constructor(origin: string) {
    super("unavailable", `the remote agent at ${origin} sent nothing for ${silenceMs} ms`);
  }
}

/** What carries the calls of one origin over HTTP/2. */
export type GrpcSession = Pick<
  Http2SessionManager,
  "authority" | "request" | "notifyResponseByteRead"
>;

/**
 * The connections over which a remote is called through gRPC, one for each origin. An address of this host or of a private network is
 * refused unless the operator allows it, whatever its name resolves to.
 */
export class GrpcSessions implements Disposable {
  readonly #guard: AddressGuard;
  readonly #managers = new Map<string, Http2SessionManager>();
  readonly #safe = new WeakSet<Http2Session>();

  constructor({ allowedAddresses }: Pick<Remote, "allowedAddresses">) {
    this.#guard = new AddressGuard(allowedAddresses, privateRanges);
  }

  /** Returns the session of a permitted origin. Throws a Failure if its host is an address that is not permitted. */
  sessionOf(origin: string): GrpcSession {
    this.#guard.assertUrl(new URL(origin));
    const known = this.#managers.get(origin) ?? this.#open(origin);
    this.#managers.set(origin, known);
    return {
      authority: known.authority,
      request: async (...request) => {
        const stream = await known.request(...request);
        this.#makeSafe(stream.session);
        stream.setTimeout(silenceMs, () => end(stream, new SilentAgent(origin)));
        return stream;
      },
      notifyResponseByteRead: (stream) => known.notifyResponseByteRead(stream),
    };
  }

  [Symbol.dispose](): void {
    const reason = new ConnectError("the runtime is shutting down", Code.Canceled);
    for (const manager of this.#managers.values()) manager.abort(reason);
  }

  /**
   * Prevents that the end of a connection, which an agent can cause, ends the process: the manager stops listening to a session that is destroyed
   * before that reports its error, if a request comes in between, and it pings a session that another event has just destroyed.
   */
  #makeSafe(session: Http2Session | undefined): void {
    if (session === undefined || this.#safe.has(session)) return;
    this.#safe.add(session);
    session.on("error", () => undefined);
    const ping = session.ping.bind(session) as (...frame: readonly unknown[]) => boolean;
    session.ping = (...frame: readonly unknown[]) => !session.destroyed && ping(...frame);
  }

  #open(origin: string): Http2SessionManager {
    return new Http2SessionManager(origin, pings, {
      settings: { enablePush: false },
      createConnection: (authority) => this.#connect(authority),
    });
  }

  #connect({ hostname, port, protocol }: URL) {
    const host = hostname.replace(/^\[|\]$/g, "");
    const { lookup } = this.#guard;
    const isTls = protocol === "https:";
    const socket = isTls
      ? connectTls({
          host,
          port: port === "" ? 443 : Number(port),
          lookup,
          ALPNProtocols: ["h2"],
          ...(isIP(host) === 0 && { servername: host }),
        })
      : connectTcp({ host, port: port === "" ? 80 : Number(port), lookup });
    const tooLate = () => socket.destroy(new Error(`no connection within ${connectTimeoutMs} ms`));
    const timer = setTimeout(tooLate, connectTimeoutMs);
    const stop = () => clearTimeout(timer);
    socket.once(isTls ? "secureConnect" : "connect", stop).once("close", stop);
    return socket;
  }
}

function end(stream: ClientHttp2Stream, reason: Error): void {
  stream.close(constants.NGHTTP2_CANCEL);
  stream.destroy(reason);
}
