import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { createInbox } from "@nats-io/transport-node";
import type { ConnectionState } from "@reeve/platform/connection-state";
import { stateOf } from "@reeve/platform/connection-state";
import type { ApiRefusal } from "./store-failure.ts";

/** What a stream said to a message: stored at this place, refused, or nothing in time. */
export type PublishReply =
  | { readonly kind: "stored"; readonly sequence: number }
  | { readonly kind: "refused"; readonly refusal: ApiRefusal }
  | { readonly kind: "unanswered" };

/** How long a stream may take to answer. */
const answerMs = 4_000;
const sweepMs = 500;

interface Asked {
  readonly resolve: (reply: PublishReply) => void;
  readonly sentAt: number;
}

const publishers = new WeakMap<NatsConnection, StreamPublisher>();

/** The publisher of a connection: one inbox for all acknowledgements, because an inbox for each costs most of the time. */
export function publisherOf(connection: NatsConnection): StreamPublisher {
  const known = publishers.get(connection);
  if (known !== undefined) return known;
  const publisher = new StreamPublisher(connection);
  publishers.set(connection, publisher);
  return publisher;
}

/** Publishes to streams and matches their acknowledgements. Ends with its connection. */
export class StreamPublisher {
  readonly #connection: NatsConnection;
  readonly #state: ConnectionState;
  readonly #inbox = createInbox();
  readonly #asked = new Map<string, Asked>();
  #sweep: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#state = stateOf(connection);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#settle(message.subject, replyOf(message));
      },
    });
    // Neither the answer nor, perhaps, the question outlives the connection.
    this.#state.onChange(() => this.#giveUp(Number.POSITIVE_INFINITY));
  }

  /** Never rejects. What comes while the connection is lost is not sent at all. */
  publish(subject: string, data: Uint8Array, headers: MsgHdrs): Promise<PublishReply> {
    if (!this.#state.isUp) return Promise.resolve({ kind: "unanswered" });
    const reply = `${this.#inbox}.${++this.#count}`;
    const { promise, resolve } = Promise.withResolvers<PublishReply>();
    this.#asked.set(reply, { resolve, sentAt: performance.now() });
    this.#sweep ??= setInterval(() => this.#giveUp(performance.now() - answerMs), sweepMs).unref();
    try {
      this.#connection.publish(subject, data, { headers, reply });
    } catch {
      this.#settle(reply, { kind: "unanswered" });
    }
    return promise;
  }

  #settle(reply: string, answer: PublishReply): void {
    this.#asked.get(reply)?.resolve(answer);
    this.#asked.delete(reply);
    if (this.#asked.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }

  #giveUp(sentBefore: number): void {
    for (const [reply, { sentAt }] of this.#asked) {
      if (sentAt < sentBefore) this.#settle(reply, { kind: "unanswered" });
    }
  }
}

function replyOf(message: Msg): PublishReply {
  if (message.data.length === 0) return { kind: "unanswered" };
  const answer = message.json<{
    readonly error?: ApiRefusal;
    readonly seq?: number;
  }>();
  if (answer.error !== undefined) return { kind: "refused", refusal: answer.error };
  return answer.seq === undefined
    ? { kind: "unanswered" }
    : { kind: "stored", sequence: answer.seq };
}
