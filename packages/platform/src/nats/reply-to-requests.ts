import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { Semaphore } from "../async/coordination/semaphore.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface ReplyOptions {
  readonly subject: string;
  /** The queue group: its members share the requests. Default: none, every subscriber receives all requests. */
  readonly group?: string;
  readonly log: Pick<Logger, "warn">;
}

/** How many requests are handled at a time. Requests beyond that are dropped, so that their clients retry. */
const maxConcurrent = 256;

/** Replies to the requests on a subject until it is disposed. A request whose handler throws gets no reply. */
export function replyToRequests(
  connection: NatsConnection,
  { subject, group, log }: ReplyOptions,
  handle: (request: Uint8Array) => Promise<Uint8Array>,
): Disposable {
  const permits = new Semaphore(maxConcurrent);
  const take = async (message: Msg) => {
    using permit = permits.tryAcquire();
    if (permit === undefined) return;
    try {
      message.respond(await handle(message.data));
    } catch (error) {
      log.warn({ err: error, subject }, "request handler threw; the request gets no reply");
    }
  };
  const subscription = connection.subscribe(subject, {
    ...(group !== undefined && { queue: group }),
    callback: (error, message) => {
      if (error === null) void take(message);
    },
  });
  return {
    [Symbol.dispose]: () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}
