import type { Msg, MsgHdrs } from "@nats-io/transport-node";

interface MessageInfo {
  readonly streamSequence: number;
  /** How many times the message was delivered, including this time. */
  readonly deliveryCount: number;
  /** How many messages that were never delivered the consumer still had. */
  readonly pending: number;
}

/** A message that a consumer delivered, with what its acknowledgement subject says about it. */
export class PulledMessage {
  readonly #message: Msg;
  readonly ackSubject: string;
  readonly info: MessageInfo;

  constructor(message: Msg) {
    const { reply = "" } = message;
    const tokens = reply.split(".");
    const [prefix, kind] = tokens;
    const named = tokens.slice(tokens.length >= minTokensWithDomain ? firstTokenAfterAccount : 2);
    const [, , deliveryCount, streamSequence, , , pending] = named;
    if (prefix !== "$JS" || kind !== "ACK" || pending === undefined) {
      throw new Error(`a message on ${message.subject} was not delivered by a consumer`);
    }
    this.#message = message;
    this.ackSubject = reply;
    this.info = {
      deliveryCount: Number(deliveryCount),
      streamSequence: Number(streamSequence),
      pending: Number(pending),
    };
  }

  get data(): Uint8Array {
    return this.#message.data;
  }

  get headers(): MsgHdrs | undefined {
    return this.#message.headers;
  }

  ack(): void {
    this.#message.respond("+ACK");
  }

  nak(delayMs = 0): void {
    const delay = { delay: Math.round(delayMs * nanosPerMs) };
    this.#message.respond(delayMs > 0 ? `-NAK ${JSON.stringify(delay)}` : "-NAK");
  }

  /** Removes the message from the queue, because no taker can read it. */
  term(): void {
    this.#message.respond("+TERM");
  }
}

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<time>.<pending>`. Newer servers put a domain
 * and a hash of the account before the stream.
 */
const minTokensWithDomain = 11;
const firstTokenAfterAccount = 4;
const nanosPerMs = 1_000_000;
