import type { ListenAddress } from "../config.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { HttpHandler } from "./rpc-handler.ts";
import { openHttpPort } from "./http-port.ts";

/**
 * A port that is open before there is anything to serve, and until the process ends: probes are answered while a service
 * still waits for its store, and while it drains.
 */
export interface Listener extends AsyncDisposable {
  /** `http://host:port` with the port that was really taken. */
  readonly url: string;
  readonly port: number;
  /** From now on `handler` answers what comes in. */
  setHandler(handler: HttpHandler): void;
}

/** Opens a port. Throws a Failure when the address cannot be had. */
export async function openListener({ host, port }: ListenAddress, log: Logger): Promise<Listener> {
  let answer = refuse;
  const open = await openHttpPort({ host, port }, (request, response) => answer(request, response));
  const shown = host.includes(":") ? `[${host}]` : host;
  const url = `http://${shown}:${open.port}`;
  log.debug({ url }, "port is open");
  return {
    url,
    port: open.port,
    setHandler(handler) {
      answer = handler;
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

/** Nobody has taken the door yet. */
const refuse: HttpHandler = (_, response) => {
  response.statusCode = 503;
  response.end("starting\n");
};
