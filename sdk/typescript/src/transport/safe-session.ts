import type { Http2Session } from "node:http2";
import { Http2SessionManager } from "@connectrpc/connect-node";

/**
 * An HTTP/2 connection whose end never ends the process. The manager of Connect stops listening to a session that it destroyed before that session
 * reports its error, if a request comes in between, and it pings a session that another event has just destroyed. Node throws both as
 * uncaught exceptions. The requests of such a session fail as always, and the next request opens another one.
 */
export class SafeSessionManager extends Http2SessionManager {
  readonly #known = new WeakSet<Http2Session>();

  override async request(...request: Parameters<Http2SessionManager["request"]>) {
    const stream = await super.request(...request);
    const { session } = stream;
    // Only a session with requests is pinged.
    if (session !== undefined && !this.#known.has(session)) {
      this.#known.add(session);
      makeSafe(session);
    }
    return stream;
  }
}

function makeSafe(session: Http2Session): void {
  session.on("error", () => undefined);
  const ping = session.ping.bind(session) as (...frame: readonly unknown[]) => boolean;
  session.ping = (...frame: readonly unknown[]) => !session.destroyed && ping(...frame);
}
