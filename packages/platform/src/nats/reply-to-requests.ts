import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../telemetry/logger.ts";

export interface ReplyOptions {
  readonly subject: string;
  /** Those of one group share the requests. Absent: each gets all. */
  readonly group?: string;
  readonly log: Pick<Logger, "warn">;
}

/** How many requests are answered at a time; beyond them the asker hears nothing, and asks again. */
const maxAtOnce = 256;

/** Answers what is asked on a subject until it is disposed. A request whose answer throws is left without one. */
export function replyToRequests(
  connection: NatsConnection,
  { subject, group, log }: ReplyOptions,
  answer: (request: Uint8Array) => Promise<Uint8Array>,
): Disposable {
  let underWay = 0;
  const take = async (message: Msg) => {
    if (underWay >= maxAtOnce) return;
    underWay++;
    try {
      message.respond(await answer(message.data));
    } catch (error) {
      log.warn({ err: error, subject }, "request not answered");
    } finally {
      underWay--;
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
