import { setImmediate } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import { abortLater } from "../async/abort-later.ts";
import { sleep } from "../async/sleep.ts";
import type { ListenAddress } from "../config.ts";
import type { Listener } from "./listener.ts";
import { openListener } from "./listener.ts";
import { mapErrors } from "./error-interceptor.ts";
import { serveHealth } from "./health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { HeldBytes } from "./body/held-bytes.ts";
import { readDeep } from "./body/request-body.ts";
import { OpenRequests } from "./http/open-requests.ts";
import type { ApiSite } from "./http/api-site.ts";
import type { PlainDocument } from "./http/plain-http.ts";
import { plainHttp } from "./http/plain-http.ts";
import type { PlainSite } from "./http/plain-site.ts";
import type { PlainRoute } from "./plain/plain-route.ts";
import { serveReflection } from "./reflection.ts";
import type { Authenticate } from "./principal.ts";
import { recheckStreams } from "./recheck-streams.ts";
import { rpcHandler } from "./rpc-handler.ts";
import type { ServerLimits } from "./server-limits.ts";
import { defaultLimits } from "./server-limits.ts";
import { traceServerRequests } from "./rpc-spans.ts";
import type { ServerTls } from "../tls/server-tls.ts";
import { compileRules } from "../strict/assert-valid.ts";
import { strictJson } from "../strict/strict-json.ts";
import { validateRequests } from "./validate-interceptor.ts";

export interface ServeOptions extends ListenAddress {
  readonly log: Logger;
  /**
   * A port that is already open. It stays open after the server ends, and then answers only probes. Default: the server
   * opens `host` and `port`.
   */
  readonly listener?: Listener | undefined;
  /** Answers 503 instead of 404 outside of the routes, because the actual server is still to come. Default: false. */
  readonly starting?: boolean;
  /** The services of this server, for health and reflection. */
  readonly services: readonly DescService[];
  /** Further addresses of the methods, for clients without a library. Default: none. */
  readonly plainRoutes?: readonly PlainRoute[];
  /** Documents by path, which everybody may read. Default: none. */
  readonly documents?: ReadonlyMap<string, PlainDocument>;
  /** Answers requests of another protocol with calls of the methods of this server. Default: none. */
  readonly apiSite?: ApiSite | undefined;
  /** A site for browsers, which everybody may read. Default: none. */
  readonly site?: PlainSite | undefined;
  /** Default: every caller is accepted, and requests have no principal. */
  readonly authenticate?: Authenticate;
  /**
   * Interceptors of authenticated requests. They see the errors that handlers throw, and requests that validation refuses.
   * Default: none.
   */
  readonly interceptors?: readonly Interceptor[];
  /** Whether the server can do its work now. Default: always. */
  ready?(): boolean;
  /** The certificate of a port that the server opens. Default: no TLS. */
  readonly tls?: ServerTls | undefined;
  /** Those of connections apply to a port that the server opens. Default: `defaultLimits`. */
  readonly limits?: Partial<ServerLimits>;
}

/** The time that requests have to finish once the server drains. */
const graceMs = 1_000;

/**
 * A running server. Disposing it drains it: it accepts no more requests, waits one second for the open ones, ends the rest
 * with UNAVAILABLE, and closes its connections.
 */
export interface RunningServer extends AsyncDisposable {
  /** `http://host:port` with the actual port, or `https://` with TLS. */
  readonly url: string;
  readonly port: number;
}

/**
 * Serves `routes` as gRPC, gRPC-Web, and Connect on one port, over HTTP/2 and HTTP/1.1, with health, reflection,
 * `GET /livez`, `/readyz`, and `/metrics`. The server drains as soon as `signal` aborts. Throws a Failure if it
 * cannot listen on the address.
 */
export async function serve(
  routes: (router: ConnectRouter) => void,
  options: ServeOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { log, services } = options;
  const drain = new AbortController();
  const draining = AbortSignal.any([signal, drain.signal]);
  const graceOver = abortLater(graceMs, draining);
  const ready = () => !draining.aborted && (options.ready?.() ?? true);
  const health = (router: ConnectRouter) =>
    serveHealth(router, {
      services: services.map(({ typeName }) => typeName),
      ready,
      sleep: (delayMs, until) => sleep(delayMs, AbortSignal.any([until, draining])),
    });
  const limits = { ...defaultLimits, ...options.limits };
  const received = { limits, held: new HeldBytes(limits.maxHeldBytes) };
  const handler = rpcHandler(
    (router) => {
      health(router);
      serveReflection(router, services);
      routes(router);
    },
    {
      ...received,
      plainRoutes: options.plainRoutes,
      apiSite: options.apiSite,
      // Before the interceptors: requests without a credential leave no span.
      authenticate: options.authenticate,
      interceptors: [
        traceServerRequests(),
        mapErrors(log, draining),
        ...(options.interceptors ?? []),
        recheckStreams,
        validateRequests(),
      ],
      binaryOptions: readDeep,
      jsonOptions: { ...strictJson, ...readDeep },
      compressMinBytes: 16 * 1024,
      maxTimeoutMs: 24 * 3_600_000,
      shutdownSignal: graceOver,
    },
    plainHttp(ready, {
      documents: options.documents ?? new Map(),
      site: options.site,
      ...(options.starting === true && { phase: "starting" }),
    }),
    log,
  );
  await compileRequestRules(services);
  const listener = options.listener ?? (await openListener({ ...options, limits }, log));
  const requests = new OpenRequests();
  listener.setHandler(requests.counted(handler));
  return {
    url: listener.url,
    port: listener.port,
    async [Symbol.asyncDispose]() {
      drain.abort(new DOMException("the server is shutting down", "AbortError"));
      if (options.listener === undefined) return await listener[Symbol.asyncDispose]();
      listener.setHandler(
        rpcHandler(
          health,
          { ...received, authenticate: undefined },
          plainHttp(ready, { phase: "ending" }),
          log,
        ),
      );
      await requests.untilNone(graceOver);
    },
  };
}

/** Compiles the rules of all requests. The first of them takes a tenth of a second, for which no other request must wait. */
async function compileRequestRules(services: readonly DescService[]): Promise<void> {
  for (const { input } of services.flatMap(({ methods }) => methods)) {
    compileRules(input);
    await setImmediate();
  }
}
