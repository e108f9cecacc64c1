import { Buffer } from "node:buffer";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { ApiError } from "../streams/errors.ts";
import { isConflict, storeFailure } from "../streams/errors.ts";
import { maxDataBytes } from "../streams/payload-limit.ts";

/** The value of a key, as bytes. */
export interface StoredValue {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

/** The server's reply to a request for a message. */
interface MessageReply {
  readonly error?: ApiError;
  readonly message?: { readonly seq: number; readonly hdrs?: string; readonly data?: string };
}

const notFound = 404;
/** A key that needs no escaping in a subject. */
const validKey = /^[-/=\w]+(\.[-/=\w]+)*$/;

/** Reads and writes single keys of a bucket over the requests of its connection, which cost a fraction of the client's own. */
export class BucketRequests {
  readonly #connection: NatsConnection;
  readonly #requests: RequestClient;
  readonly #bucket: string;

  constructor(connection: NatsConnection, bucket: string) {
    this.#connection = connection;
    this.#requests = requestClientOf(connection);
    this.#bucket = bucket;
  }

  /**
   * Returns the latest value of a key, or undefined if it was never written or was deleted. Asks the leader, which has all
   * writes.
   */
  async get(key: string): Promise<StoredValue | undefined> {
    const data = JSON.stringify({ last_by_subj: this.#subject(key) });
    const subject = `$JS.API.STREAM.MSG.GET.KV_${this.#bucket}`;
    const reply = await this.#requests.send(subject, { data });
    if (reply === undefined) throw storeUnavailable();
    const { error, message } = reply.json<MessageReply>();
    if (error?.code === notFound) return undefined;
    if (message === undefined) {
      throw storeFailure(error ?? new Error("the reply has no message"));
    }
    if (message.hdrs !== undefined && isDeletion(message.hdrs)) return undefined;
    return { bytes: Buffer.from(message.data ?? "", "base64"), revision: message.seq };
  }

  /**
   * Writes a key. If `expected` is given, writes only over that revision; 0 stands for a key that was never written. Returns the
   * new revision, or undefined when the bucket holds another one.
   */
  async write(key: string, data: Uint8Array, expected?: number): Promise<number | undefined> {
    const maxBytes = maxDataBytes(this.#connection);
    if (data.length > maxBytes) {
      const record = `the record ${key} of ${this.#bucket}`;
      const message = `${record} has ${data.length} bytes, more than the ${maxBytes} bytes that the store accepts; make its largest field smaller`;
      throw new Failure("exhausted", ErrorReason.TOO_LARGE, message);
    }
    const messageHeaders = headers();
    if (expected !== undefined) {
      messageHeaders.set("Nats-Expected-Last-Subject-Sequence", String(expected));
    }
    const reply = await this.#requests.send(this.#subject(key), { data, headers: messageHeaders });
    if (reply === undefined) throw storeUnavailable();
    const { error, seq } = reply.json<{ readonly error?: ApiError; readonly seq?: number }>();
    if (isConflict(error)) return undefined;
    if (error !== undefined || seq === undefined) {
      throw storeFailure(error ?? new Error("the reply has no sequence"));
    }
    return seq;
  }

  #subject(key: string): string {
    if (!validKey.test(key)) throw new RangeError(`"${key}" is not a valid key`);
    return `$KV.${this.#bucket}.${key}`;
  }
}

function isDeletion(encodedHeaders: string): boolean {
  const text = Buffer.from(encodedHeaders, "base64").toString();
  return /^KV-Operation:\s*(DEL|PURGE)\s*$/m.test(text);
}
