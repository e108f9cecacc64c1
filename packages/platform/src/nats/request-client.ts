import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { createInbox } from "@nats-io/transport-node";
import type { ConnectionState } from "./connection-state.ts";
import { connectionStateOf } from "./connection-state.ts";

/** How long an answer may take. */
const answerMs = 4_000;
const sweepMs = 500;
/** The status of the answer that nobody listens. */
const noResponders = 503;

interface PendingRequest {
  readonly resolve: (reply: Msg | undefined) => void;
  readonly sentAt: number;
}

export interface RequestMessage {
  readonly data?: Uint8Array | string;
  readonly headers?: MsgHdrs;
}

const known = new WeakMap<NatsConnection, RequestClient>();

/** The requests of a connection: one inbox for all answers, because an inbox and a timer for each cost most of the time. */
export function requestClientOf(connection: NatsConnection): RequestClient {
  const there = known.get(connection);
  if (there !== undefined) return there;
  const requests = new RequestClient(connection);
  known.set(connection, requests);
  return requests;
}

/** Asks over NATS and matches the answers. Ends with its connection. */
export class RequestClient {
  readonly #connection: NatsConnection;
  readonly #state: ConnectionState;
  readonly #inbox = createInbox();
  readonly #asked = new Map<string, PendingRequest>();
  #sweep: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#state = connectionStateOf(connection);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const isNobody = message.headers?.code === noResponders;
        this.#settle(message.subject, isNobody ? undefined : message);
      },
    });
    // Neither the answer nor, perhaps, the question outlives the connection.
    this.#state.onChange(() => this.#giveUp(Number.POSITIVE_INFINITY));
  }

  /** The answer; undefined when there is none in time. Never rejects. While the connection is lost nothing is sent at all. */
  send(subject: string, { data, headers }: RequestMessage): Promise<Msg | undefined> {
    if (!this.#state.isUp) return Promise.resolve(undefined);
    const reply = `${this.#inbox}.${++this.#count}`;
    const { promise, resolve } = Promise.withResolvers<Msg | undefined>();
    this.#asked.set(reply, { resolve, sentAt: performance.now() });
    this.#sweep ??= setInterval(() => this.#giveUp(performance.now() - answerMs), sweepMs).unref();
    try {
      this.#connection.publish(subject, data, { reply, ...(headers && { headers }) });
    } catch {
      this.#settle(reply, undefined);
    }
    return promise;
  }

  #settle(reply: string, answer: Msg | undefined): void {
    this.#asked.get(reply)?.resolve(answer);
    this.#asked.delete(reply);
    if (this.#asked.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }

  #giveUp(sentBefore: number): void {
    for (const [reply, { sentAt }] of this.#asked) {
      if (sentAt < sentBefore) this.#settle(reply, undefined);
    }
  }
}
