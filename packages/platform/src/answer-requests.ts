import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "./logger.ts";

export interface AnswerOptions {
  readonly subject: string;
  /** Those of one group share the requests. Absent: each gets all. */
  readonly group?: string;
  readonly log: Pick<Logger, "warn">;
}

/** How many requests are answered at a time; beyond them the asker hears nothing, and asks again. */
const mostAtOnce = 256;

/** Answers what is asked on a subject until it is disposed. A request whose answer throws is left without one. */
export function answerRequests(
  connection: NatsConnection,
  { subject, group, log }: AnswerOptions,
  answer: (request: Uint8Array) => Promise<Uint8Array>,
): Disposable {
  let underWay = 0;
  const subscription = connection.subscribe(subject, {
    ...(group !== undefined && { queue: group }),
    callback: (error, message) => {
      if (error !== null || underWay >= mostAtOnce) return;
      underWay++;
      answer(message.data)
        .then((data) => message.respond(data))
        .catch((reason: unknown) => log.warn({ err: reason, subject }, "request not answered"))
        .finally(() => underWay--);
    },
  });
  return {
    [Symbol.dispose]: () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}
