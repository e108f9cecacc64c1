import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { assertRoomBesideReserve, writeWithReserve } from "../reserve/spend-reserve.ts";
import type { ApiError } from "../streams/errors.ts";
import { isConflict, storeFailure } from "../streams/errors.ts";
import { maxDataBytes } from "../streams/payload-limit.ts";
import type { StoredMessage } from "../streams/stream-messages.ts";
import { StreamMessages } from "../streams/stream-messages.ts";

/** The value of a key, as bytes. */
export interface StoredValue {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

interface WriteAnswer {
  readonly error?: ApiError;
  readonly seq?: number;
}

/** The size up to which a row may use the reserve of a full store: rows show what became of runs and approvals. */
const maxReservedBytes = 64 * 1024;
/** A key that needs no escaping in a subject. */
const validKey = /^[-/=\w]+(\.[-/=\w]+)*$/;

/** Reads and writes single keys of a bucket over the requests of its connection, which cost a fraction of the client's own. */
export class BucketRequests {
  readonly #connection: NatsConnection;
  readonly #requests: RequestClient;
  readonly #messages: StreamMessages;
  readonly #bucket: string;
  readonly #usesReserve: boolean;

  /** `usesReserve`: whether small rows may use the reserve of a full store. */
  constructor(connection: NatsConnection, bucket: string, usesReserve: boolean) {
    this.#connection = connection;
    this.#requests = requestClientOf(connection);
    // Buckets refuse direct reads.
    this.#messages = new StreamMessages(connection, { name: `KV_${bucket}`, isReplicated: true });
    this.#bucket = bucket;
    this.#usesReserve = usesReserve;
  }

  /**
   * Returns the latest value of a key, or undefined if it was never written or was deleted. Asks the leader, which has all
   * writes.
   */
  async get(key: string): Promise<StoredValue | undefined> {
    const message = await this.#messages.latest({ last_by_subj: this.#subject(key) });
    if (message === undefined || isDeletion(message)) return undefined;
    return { bytes: message.data, revision: message.sequence };
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
    const send = async () => {
      const message = { data, headers: messageHeaders };
      const reply = await this.#requests.send(this.#subject(key), message);
      if (reply === undefined) throw storeUnavailable();
      return reply.json<WriteAnswer>();
    };
    const { error, seq } = await this.#withRoom(data.length, send);
    if (isConflict(error)) return undefined;
    if (error !== undefined || seq === undefined) {
      throw storeFailure(error ?? new Error("the reply has no sequence"));
    }
    return seq;
  }

  async #withRoom(bytes: number, send: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
    if (this.#usesReserve && bytes <= maxReservedBytes) {
      return await writeWithReserve(this.#connection, send, refusalOf);
    }
    assertRoomBesideReserve(this.#connection);
    return await send();
  }

  #subject(key: string): string {
    if (!validKey.test(key)) throw new RangeError(`"${key}" is not a valid key`);
    return `$KV.${this.#bucket}.${key}`;
  }
}

function refusalOf({ error }: WriteAnswer): ApiError | undefined {
  return error;
}

function isDeletion({ headers: stored }: StoredMessage): boolean {
  return ["DEL", "PURGE"].includes(stored.get("KV-Operation"));
}
