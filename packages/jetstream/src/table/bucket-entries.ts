import type { StreamAPI } from "@nats-io/jetstream";
import type { KV, KvEntry } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { onAbort } from "@reeve/platform/async/on-abort";
import { callStore } from "../streams/call-store.ts";
import { storeFailure } from "../streams/errors.ts";
import { retryRead } from "./retry-read.ts";

interface EntriesOf {
  readonly bucket: KV;
  readonly streams: StreamAPI;
  readonly name: string;
}

/** The entries of a bucket as the store has them, below a prefix of their keys. */
export class BucketEntries {
  readonly #connection: NatsConnection;
  readonly #of: EntriesOf;

  constructor(connection: NatsConnection, of: EntriesOf) {
    this.#connection = connection;
    this.#of = of;
  }

  /** Returns the revision of the last entry, including deletions; 0 if nothing was ever written there. Retries while the store is unavailable. */
  async lastRevision(prefix: string, signal: AbortSignal): Promise<number> {
    const read = () => this.readLastRevision(prefix);
    return (await retryRead(this.#connection, read, signal)) ?? 0;
  }

  /** Reads the revision of the last entry once. Undefined: nothing was ever written there. */
  async readLastRevision(prefix: string): Promise<number | undefined> {
    const { streams, name } = this.#of;
    const query = { last_by_subj: `$KV.${name}.${filterOf(prefix)}` };
    return (await streams.getMessage(`KV_${name}`, query))?.seq;
  }

  /** Yields the latest entry of every key, then each new one, until `signal` aborts. */
  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<KvEntry> {
    const entries = await callStore(() => this.#of.bucket.watch({ key: filterOf(prefix) }));
    using _ = onAbort(signal, () => entries.stop());
    try {
      signal.throwIfAborted();
      yield* entries;
      signal.throwIfAborted();
    } finally {
      entries.stop();
    }
    throw storeFailure(new Error("the watch ended"));
  }
}

function filterOf(prefix: string): string {
  return prefix === "" ? ">" : `${prefix}.>`;
}
