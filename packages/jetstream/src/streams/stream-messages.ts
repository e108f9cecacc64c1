import { Buffer } from "node:buffer";
import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { ApiError } from "./errors.ts";
import { storeFailure } from "./errors.ts";

/** Names one message: the last of a subject, the one at a sequence, or the first of a subject from a sequence on. */
export type MessageQuery =
  | { readonly last_by_subj: string }
  | { readonly seq: number; readonly next_by_subj?: string };

/** A message as its stream stores it. */
export interface StoredMessage {
  readonly sequence: number;
  readonly subject: string;
  /** When the stream stored it, as RFC 3339 writes it. */
  readonly storedAt: string;
  readonly headers: MsgHdrs;
  readonly data: Uint8Array;
}

/** A stream, and whether several servers keep it. */
export interface StreamPlace {
  readonly name: string;
  readonly isReplicated: boolean;
}

/** The leader's reply to a request for a message. */
interface MessageReply {
  readonly error?: ApiError;
  readonly message?: {
    readonly seq: number;
    readonly subject: string;
    readonly time: string;
    readonly hdrs?: string;
    readonly data?: string;
  };
}

/** The status of a reply that no such message exists. */
const notFound = 404;

/**
 * Reads single messages of a stream. Several servers may keep a stream: the one that leads it has every acknowledged message,
 * and the others lag, usually by milliseconds. A stream that one server keeps has no lag, and all methods read it the same
 * way.
 *
 * `latest` is the read on which absence and age may be decided. A server that was cut off from the others, or has just become
 * the leader, may still answer from an older state for a moment; a caller that knows a sequence that must exist compares.
 */
export class StreamMessages {
  readonly #requests: RequestClient;
  readonly #stream: StreamPlace;

  constructor(connection: NatsConnection, stream: StreamPlace) {
    this.#requests = requestClientOf(connection);
    this.#stream = stream;
  }

  get isReplicated(): boolean {
    return this.#stream.isReplicated;
  }

  /** Returns a message from the leader, or undefined if the leader has none. */
  latest(query: MessageQuery): Promise<StoredMessage | undefined> {
    return this.isReplicated ? this.#fromLeader(query) : this.#fromReplica(query);
  }

  /** Returns a message from any server that keeps the stream. A message that is missing, or is not the last, proves nothing. */
  lagging(query: MessageQuery): Promise<StoredMessage | undefined> {
    return this.#fromReplica(query);
  }

  /** Returns a message that never changes once it is stored: from any server that has it, or else from the leader. */
  async stored(query: MessageQuery & { seq: number }): Promise<StoredMessage | undefined> {
    const found = await this.#fromReplica(query);
    return found === undefined && this.isReplicated ? await this.#fromLeader(query) : found;
  }

  /**
   * Returns the message at a sequence that the stream has assigned, or undefined if it was deleted. Throws a Failure of kind
   * `unavailable` while the leader has not reached that sequence.
   */
  async assigned(seq: number): Promise<StoredMessage | undefined> {
    const found = await this.stored({ seq });
    if (found !== undefined || !this.isReplicated) return found;
    if ((await this.lastSequence()) >= seq) return await this.#fromLeader({ seq });
    throw storeUnavailable(new Error(`the leader of ${this.#stream.name} is before ${seq}`));
  }

  /** Returns the sequence of the last message that the leader has stored. */
  async lastSequence(): Promise<number> {
    const reply = await this.#requests.send(`$JS.API.STREAM.INFO.${this.#stream.name}`, {});
    if (reply === undefined) throw storeUnavailable();
    const { error, state } = reply.json<{
      readonly error?: ApiError;
      readonly state?: { readonly last_seq: number };
    }>();
    if (state === undefined) throw storeFailure(error ?? new Error("the reply has no state"));
    return state.last_seq;
  }

  async #fromReplica(query: MessageQuery): Promise<StoredMessage | undefined> {
    const direct = `$JS.API.DIRECT.GET.${this.#stream.name}`;
    const reply =
      "last_by_subj" in query
        ? await this.#requests.send(`${direct}.${query.last_by_subj}`, {})
        : await this.#requests.send(direct, { data: JSON.stringify(query) });
    if (reply === undefined) throw storeUnavailable();
    return directMessage(reply);
  }

  async #fromLeader(query: MessageQuery): Promise<StoredMessage | undefined> {
    const subject = `$JS.API.STREAM.MSG.GET.${this.#stream.name}`;
    const reply = await this.#requests.send(subject, { data: JSON.stringify(query) });
    if (reply === undefined) throw storeUnavailable();
    const { error, message } = reply.json<MessageReply>();
    if (error?.code === notFound) return undefined;
    if (message === undefined) throw storeFailure(error ?? new Error("the reply has no message"));
    return {
      sequence: message.seq,
      subject: message.subject,
      storedAt: message.time,
      headers: headersFrom(message.hdrs ?? ""),
      data: Buffer.from(message.data ?? "", "base64"),
    };
  }
}

function directMessage(reply: Msg): StoredMessage | undefined {
  const status = reply.headers?.code;
  if (status === notFound) return undefined;
  if (reply.headers === undefined || status !== 0) {
    throw storeUnavailable(new Error(`status ${status} for a direct read`));
  }
  const sequence = Number(reply.headers.get("Nats-Sequence"));
  const subject = reply.headers.get("Nats-Subject");
  const storedAt = reply.headers.get("Nats-Time-Stamp");
  return { sequence, subject, storedAt, headers: reply.headers, data: reply.data };
}

/** Decodes the headers of a message as a leader sends them: a status line, then one header per line. */
function headersFrom(encoded: string): MsgHdrs {
  const decoded = headers();
  const [, ...lines] = Buffer.from(encoded, "base64").toString().split("\r\n");
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) decoded.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return decoded;
}
