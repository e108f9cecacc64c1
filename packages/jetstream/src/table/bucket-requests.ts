import { Buffer } from "node:buffer";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { ApiError } from "../streams/errors.ts";
import { isConflict, storeFailure } from "../streams/errors.ts";
import { maxDataBytes } from "../streams/payload-limit.ts";

/** What a bucket has under a key, as bytes. */
export interface StoredValue {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

/** What the server answers to a question for a message. */
interface Given {
  readonly error?: ApiError;
  readonly message?: { readonly seq: number; readonly hdrs?: string; readonly data?: string };
}

const notFound = 404;
/** A key that stands for itself in a subject. */
const possibleKey = /^[-/=\w]+(\.[-/=\w]+)*$/;

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

  /** What was last written under the key; undefined: nothing, or it was deleted. Asks the leader, who has all writes. */
  async get(key: string): Promise<StoredValue | undefined> {
    const data = JSON.stringify({ last_by_subj: this.#subject(key) });
    const subject = `$JS.API.STREAM.MSG.GET.KV_${this.#bucket}`;
    const answer = await this.#requests.send(subject, { data });
    if (answer === undefined) throw storeUnavailable();
    const { error, message } = answer.json<Given>();
    if (error?.code === notFound) return undefined;
    if (message === undefined) throw storeFailure(error ?? new Error("the reply has no message"));
    if (message.hdrs !== undefined && isDeletion(message.hdrs)) return undefined;
    return { bytes: Buffer.from(message.data ?? "", "base64"), revision: message.seq };
  }

  /**
   * Writes the key, where `expected` is given only over that revision (0: over nothing that was ever there). Gives the new
   * revision; undefined: another one is there.
   */
  async write(key: string, data: Uint8Array, expected?: number): Promise<number | undefined> {
    if (data.length > maxDataBytes(this.#connection)) {
      throw storeFailure(new Error("max_payload exceeded"));
    }
    const described = headers();
    if (expected !== undefined) {
      described.set("Nats-Expected-Last-Subject-Sequence", String(expected));
    }
    const answer = await this.#requests.send(this.#subject(key), { data, headers: described });
    if (answer === undefined) throw storeUnavailable();
    const { error, seq } = answer.json<{ readonly error?: ApiError; readonly seq?: number }>();
    if (isConflict(error)) return undefined;
    if (error !== undefined || seq === undefined) {
      throw storeFailure(error ?? new Error("the reply has no sequence"));
    }
    return seq;
  }

  #subject(key: string): string {
    if (!possibleKey.test(key)) throw new RangeError(`"${key}" cannot be a key`);
    return `$KV.${this.#bucket}.${key}`;
  }
}

function isDeletion(encoded: string): boolean {
  return /^KV-Operation:\s*(DEL|PURGE)\s*$/m.test(Buffer.from(encoded, "base64").toString());
}
