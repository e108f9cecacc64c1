import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { createInbox } from "@nats-io/transport-node";
import type { ConnectionState } from "./connection-state.ts";
import { connectionStateOf } from "./connection-state.ts";
import { inboxPrefixesOf } from "./inbox.ts";

/** The timeout of a request. Timeouts are checked every `sweepMs`. */
const timeoutMs = 4_000;
const sweepMs = 500;
/** The status of a reply that says that the subject has no subscribers. */
const noResponders = 503;

interface PendingRequest {
  readonly resolve: (reply: Msg | undefined) => void;
  readonly sentAt: number;
}

export interface RequestMessage {
  readonly data?: Uint8Array | string;
  readonly headers?: MsgHdrs;
}

const clients = new WeakMap<NatsConnection, RequestClient>();

/** Returns the request client of a connection. All callers share one object. */
export function requestClientOf(connection: NatsConnection): RequestClient {
  const known = clients.get(connection);
  if (known !== undefined) return known;
  const client = new RequestClient(connection);
  clients.set(connection, client);
  return client;
}

/**
 * Sends requests to JetStream and matches the replies, until its connection closes. One inbox and one timer serve all requests:
 * creating them per request would take most of the request's time.
 */
export class RequestClient {
  readonly #connection: NatsConnection;
  readonly #state: ConnectionState;
  readonly #inbox: string;
  readonly #pending = new Map<string, PendingRequest>();
  #sweep: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#state = connectionStateOf(connection);
    this.#inbox = createInbox(inboxPrefixesOf(connection).store);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const hasResponder = message.headers?.code !== noResponders;
        this.#settle(message.subject, hasResponder ? message : undefined);
      },
    });
    // A lost connection loses the replies, and perhaps the requests.
    this.#state.onChange(() => this.#expire(Number.POSITIVE_INFINITY));
  }

  /**
   * Sends a request and resolves with the reply, or with undefined after about four seconds without one. Never rejects. Sends
   * nothing while the connection is lost.
   */
  send(subject: string, { data, headers }: RequestMessage): Promise<Msg | undefined> {
    if (!this.#state.isUp) return Promise.resolve(undefined);
    const reply = `${this.#inbox}.${++this.#count}`;
    const { promise, resolve } = Promise.withResolvers<Msg | undefined>();
    this.#pending.set(reply, { resolve, sentAt: performance.now() });
    this.#sweep ??= setInterval(() => this.#expire(performance.now() - timeoutMs), sweepMs).unref();
    try {
      this.#connection.publish(subject, data, { reply, ...(headers && { headers }) });
    } catch {
      this.#settle(reply, undefined);
    }
    return promise;
  }

  #settle(reply: string, message: Msg | undefined): void {
    this.#pending.get(reply)?.resolve(message);
    this.#pending.delete(reply);
    if (this.#pending.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }

  #expire(sentBefore: number): void {
    for (const [reply, { sentAt }] of this.#pending) {
      if (sentAt < sentBefore) this.#settle(reply, undefined);
    }
  }
}
