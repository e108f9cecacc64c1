import { Buffer } from "node:buffer";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import type { Requests } from "@reeve/platform/nats/requests";
import { requestsOf } from "@reeve/platform/nats/requests";
import { unanswered } from "@reeve/platform/nats/unanswered";
import { conflicts, storeFailure } from "../streams/store-call.ts";

/** What a bucket has under a key, as bytes. */
export interface StoredValue {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

interface Refusal {
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** What the server answers to a question for a message. */
interface Given {
  readonly error?: Refusal;
  readonly message?: { readonly seq: number; readonly hdrs?: string; readonly data?: string };
}

const notFound = 404;
/** A key that stands for itself in a subject. */
const possibleKey = /^[-/=\w]+(\.[-/=\w]+)*$/;
/** Headers count too; they are far below a kilobyte. */
const roomForHeaders = 1024;

/** Reads and writes single keys of a bucket over the requests of its connection, which cost a fraction of the client's own. */
export class BucketRequests {
  readonly #connection: NatsConnection;
  readonly #requests: Requests;
  readonly #bucket: string;

  constructor(connection: NatsConnection, bucket: string) {
    this.#connection = connection;
    this.#requests = requestsOf(connection);
    this.#bucket = bucket;
  }

  /** What was last written under the key; undefined: nothing, or it was deleted. Asks the leader, who has all writes. */
  async get(key: string): Promise<StoredValue | undefined> {
    const data = JSON.stringify({ last_by_subj: this.#subject(key) });
    const subject = `$JS.API.STREAM.MSG.GET.KV_${this.#bucket}`;
    const answer = await this.#requests.ask(subject, { data });
    if (answer === undefined) throw unanswered();
    const { error, message } = answer.json<Given>();
    if (error?.code === notFound) return undefined;
    if (message === undefined) throw storeFailure(new Error(error?.description ?? "no message"));
    if (message.hdrs !== undefined && isDeletion(message.hdrs)) return undefined;
    return { bytes: Buffer.from(message.data ?? "", "base64"), revision: message.seq };
  }

  /**
   * Writes the key, where `expected` is given only over that revision (0: over nothing that was ever there). Gives the new
   * revision; undefined: another one is there.
   */
  async write(key: string, data: Uint8Array, expected?: number): Promise<number | undefined> {
    const most = (this.#connection.info?.max_payload ?? 1024 * 1024) - roomForHeaders;
    if (data.length > most) throw storeFailure(new Error("max_payload exceeded"));
    const described = headers();
    if (expected !== undefined) {
      described.set("Nats-Expected-Last-Subject-Sequence", String(expected));
    }
    const answer = await this.#requests.ask(this.#subject(key), { data, headers: described });
    if (answer === undefined) throw unanswered();
    const { error, seq } = answer.json<{ readonly error?: Refusal; readonly seq?: number }>();
    if (error?.err_code !== undefined && conflicts.has(error.err_code)) return undefined;
    if (error !== undefined || seq === undefined) {
      throw storeFailure(new Error(error?.description ?? "no place in the answer"));
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
