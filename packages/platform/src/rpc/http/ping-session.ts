import type { ServerHttp2Session } from "node:http2";

/** The interval between pings of an HTTP/2 connection. */
export const pingIntervalMs = 20_000;

/** Pings an HTTP/2 connection until it closes, so that a dead peer is noticed. */
export function pingSession(session: ServerHttp2Session): void {
  const ping = () => {
    // A destroyed session may not have emitted "close" yet; a ping would then throw outside of any handler.
    if (!session.destroyed) session.ping(() => undefined);
  };
  const pings = setInterval(ping, pingIntervalMs).unref();
  session.once("close", () => clearInterval(pings));
}
