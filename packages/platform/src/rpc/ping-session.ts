import type { ServerHttp2Session } from "node:http2";

/** How often an HTTP/2 connection is asked whether it lives. */
export const pingIntervalMs = 20_000;

/** Asks a connection again and again whether it lives, until it is closed. */
export function pingSession(session: ServerHttp2Session): void {
  const ping = () => {
    // A session can be at its end for a while before it says that it is closed; then it throws what nobody would catch.
    if (!session.destroyed) session.ping(() => undefined);
  };
  const pings = setInterval(ping, pingIntervalMs).unref();
  session.once("close", () => clearInterval(pings));
}
