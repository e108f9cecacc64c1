import type { ListenAddress } from "../config.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { HttpHandler } from "./http/http-handler.ts";
import { openHttpPort } from "./http/http-port.ts";
import type { ServerTls } from "../tls/server-tls.ts";
import type { ServerLimits } from "./server-limits.ts";
import { defaultLimits } from "./server-limits.ts";

/**
 * An open port that outlives the server behind it: it answers probes while the service still waits for its store, and while
 * the service drains.
 */
export interface Listener extends AsyncDisposable {
  /** `http://host:port` with the actual port, or `https://` with TLS. */
  readonly url: string;
  readonly port: number;
  /** Passes all further requests to `handler`. */
  setHandler(handler: HttpHandler): void;
}

export interface ListenerOptions extends ListenAddress {
  /** Default: `defaultLimits`. */
  readonly limits?: ServerLimits;
  /** The certificate of the port. Default: no TLS. */
  readonly tls?: ServerTls | undefined;
}

/** Opens a port, which answers 503 until it has a handler. Throws a Failure if it cannot listen on the address. */
export async function openListener(
  { host, port, limits = defaultLimits, tls }: ListenerOptions,
  log: Logger,
): Promise<Listener> {
  let handler = starting;
  const open = await openHttpPort(
    { host, port },
    (request, response) => handler(request, response),
    { limits, log, tls },
  );
  const urlHost = host.includes(":") ? `[${host}]` : host;
  const url = `${tls === undefined ? "http" : "https"}://${urlHost}:${open.port}`;
  log.debug({ url }, "port is open");
  return {
    url,
    port: open.port,
    setHandler(next) {
      handler = next;
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

const starting: HttpHandler = (_, response) => {
  response.statusCode = 503;
  response.end("starting\n");
};
