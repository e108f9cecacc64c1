import { setTimeout as wait } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import type { ListenAddress } from "../config.ts";
import type { Listener } from "./listener.ts";
import { openListener } from "./listener.ts";
import { mapErrors } from "./error-interceptor.ts";
import { serveHealth } from "./health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { OpenRequests } from "./open-requests.ts";
import { plainHttp, withCors } from "./plain-http.ts";
import { serveReflection } from "./reflection.ts";
import { rpcHandler } from "./rpc-handler.ts";
import { traceServerRequests } from "./rpc-spans.ts";
import { validateRequests } from "./validate-interceptor.ts";

export interface ServeOptions extends ListenAddress {
  readonly log: Logger;
  /**
   * A port that is open already. It stays open when the server ends, and answers probes from then on. Absent: the address is
   * opened.
   */
  readonly listener?: Listener | undefined;
  /** Whether what the port will serve is still to come: until then it is unavailable. */
  readonly starting?: boolean;
  /** What the server offers, for health and reflection. */
  readonly services: readonly DescService[];
  /** Run before requests are traced and validated: authentication. Their errors are mapped as well. */
  readonly interceptors?: readonly Interceptor[];
  /** Whether the server can do its work now. Absent: as long as it runs. */
  ready?(): boolean;
  /** The largest message that is accepted, in bytes. Default: 4 MiB. */
  readonly maxMessageBytes?: number;
}

/** What is nested deeper than readers of messages like is read here, so that the refusal of it can say so. */
const readDeep = { recursionLimit: 1_000 };

/** How long requests may take to be answered once the server goes away. */
const graceMs = 1_000;

/** What has been mapped within stays as it is, also while the server goes away. */
const neverDraining = new AbortController().signal;

/**
 * A server that is open, until it is disposed: then it takes no more requests, answers those that it has, ends after a
 * while UNAVAILABLE what does not come to an end, and closes its connections.
 */
export interface RunningServer extends AsyncDisposable {
  /** `http://host:port` with the port that was really taken. */
  readonly url: string;
  readonly port: number;
}

/**
 * Serves `routes` as gRPC, gRPC-Web and Connect on one port, over HTTP/2 without TLS and HTTP/1.1, with health and
 * reflection, `GET /livez`, `/readyz` and `/metrics`. Throws a Failure when the address cannot be had.
 */
export async function serve(
  routes: (router: ConnectRouter) => void,
  options: ServeOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { log, services } = options;
  const drain = new AbortController();
  const draining = AbortSignal.any([signal, drain.signal]);
  const late = new AbortController();
  const hurry = () => {
    setTimeout(() => late.abort(draining.reason), graceMs).unref();
  };
  if (draining.aborted) hurry();
  else draining.addEventListener("abort", hurry, { once: true });
  const ready = () => !draining.aborted && (options.ready?.() ?? true);
  const health = (router: ConnectRouter) =>
    serveHealth(router, {
      services: services.map(({ typeName }) => typeName),
      ready,
      sleep: (ms, until) => wait(ms, undefined, { signal: AbortSignal.any([until, draining]) }),
    });
  const readMaxBytes = options.maxMessageBytes ?? 4 * 1024 * 1024;
  const handler = rpcHandler(
    (router) => {
      health(router);
      serveReflection(router, services);
      routes(router);
    },
    {
      interceptors: [
        // What is refused there is mapped, and leaves no span: everybody who reaches the port can ask.
        mapErrors(log, neverDraining),
        ...(options.interceptors ?? []),
        traceServerRequests(),
        mapErrors(log, draining),
        validateRequests(),
      ],
      readMaxBytes,
      binaryOptions: readDeep,
      jsonOptions: readDeep,
      compressMinBytes: 16 * 1024,
      maxTimeoutMs: 24 * 3_600_000,
      shutdownSignal: late.signal,
    },
    plainHttp(ready, options.starting === true ? "starting" : undefined),
    log,
  );
  const listener = options.listener ?? (await openListener(options, log));
  const requests = new OpenRequests();
  listener.setHandler(requests.counted(withCors(handler)));
  return {
    url: listener.url,
    port: listener.port,
    async [Symbol.asyncDispose]() {
      drain.abort(new DOMException("the server is going away", "AbortError"));
      if (options.listener === undefined) return await listener[Symbol.asyncDispose]();
      listener.setHandler(
        withCors(rpcHandler(health, { readMaxBytes }, plainHttp(ready, "ending"), log)),
      );
      await requests.untilNone(late.signal);
    },
  };
}
