import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";
import { Semaphore } from "../async/coordination/semaphore.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface ReplyOptions {
  readonly subject: string;
  /** The queue group: its members share the requests. Default: none, every subscriber receives all requests. */
  readonly group?: string;
  readonly log: Pick<Logger, "warn">;
  /** Interval between attempts to subscribe while the server refuses it, in milliseconds. Default: ten seconds. */
  readonly retryMs?: number;
}

/** How many requests are handled at a time. Requests beyond that are dropped, so that their clients retry. */
const maxConcurrent = 256;

/** Interval between attempts to subscribe while the server refuses it. */
const defaultRetryMs = 10_000;

/**
 * Replies to the requests on a subject until it is disposed. A request whose handler throws gets no reply. While the user of NATS
 * may not subscribe to the subject, tries again at intervals, so that new permissions need no restart.
 */
export function replyToRequests(
  connection: NatsConnection,
  { subject, group, log, retryMs = defaultRetryMs }: ReplyOptions,
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
  let retry: NodeJS.Timeout | undefined;
  let isReported = false;
  const subscribe = (): Subscription =>
    connection.subscribe(subject, {
      ...(group !== undefined && { queue: group }),
      callback: (error, message) => {
        if (error === null) void take(message);
        else if (error instanceof errors.PermissionViolationError) subscribeLater(error);
      },
    });
  const subscribeLater = (error: Error) => {
    if (!isReported) log.warn({ err: error, subject }, refusal);
    isReported = true;
    clearTimeout(retry);
    retry = setTimeout(() => {
      if (!connection.isClosed()) subscription = subscribe();
    }, retryMs).unref();
  };
  let subscription = subscribe();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(retry);
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}

const refusal =
  'this user of NATS may not subscribe to a subject, so its requests get no reply; give it the permissions of this version, see "Users of NATS" in docs/deploy.md';
