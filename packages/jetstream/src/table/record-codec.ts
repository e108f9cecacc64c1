import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { Failure } from "@reeve/platform/failure";
import { isTenantKeyDeleted } from "../sealing/key-failures.ts";
import type { PayloadCipher, Place } from "../sealing/payload-cipher.ts";
import type { KeyedChange, Row, Version } from "./port.ts";
import { tenantOfKey } from "./unreadable-rows.ts";

/** An entry as its bucket stores it. */
interface StoredEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
}

/** Encodes the records of a bucket, and seals them for their keys if the contract of the bucket says so. */
export class RecordCodec<Schema extends DescMessage> {
  readonly #schema: Schema;
  readonly #name: string;
  /** Undefined: the records are not sealed. */
  readonly #cipher: PayloadCipher | undefined;

  constructor(schema: Schema, cipher: PayloadCipher) {
    const { name, isSealed } = bucketOf(schema);
    this.#schema = schema;
    this.#name = name;
    this.#cipher = isSealed ? cipher : undefined;
  }

  async encode(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const data = toBinary(this.#schema, record);
    return this.#cipher === undefined ? data : await this.#cipher.seal(this.#at(key), data, signal);
  }

  /** Returns the row of an entry. Throws a Failure of kind `data_loss` if it was altered. */
  async row(
    { key, value, revision }: StoredEntry,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>>> {
    const cipher = this.#cipher;
    if (cipher === undefined) {
      return { key, record: fromBinary(this.#schema, value, storedReadOptions), revision };
    }
    const data = await cipher.open(this.#at(key), value, signal);
    return { key, record: this.#decoded(cipher, key, data), revision };
  }

  /**
   * Returns what an entry changes; without a value, it deletes its key. A row whose tenant's key was deleted counts as deleted:
   * nobody can ever read it.
   */
  async change(
    {
      key,
      value,
      revision,
    }: Omit<StoredEntry, "value"> & { readonly value?: Uint8Array | undefined },
    signal: AbortSignal,
  ): Promise<KeyedChange<MessageShape<Schema>>> {
    if (value === undefined) return { kind: "deleted", key, revision };
    try {
      return { kind: "written", row: await this.row({ key, value, revision }, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (isTenantKeyDeleted(error)) return { kind: "deleted", key, revision };
      if (error instanceof Failure) return { kind: "unreadable", key, revision, error };
      throw error;
    }
  }

  /** Returns the row of an entry, or that it cannot be read. */
  async version(entry: StoredEntry, signal: AbortSignal): Promise<Version<MessageShape<Schema>>> {
    try {
      return { kind: "written", row: await this.row(entry, signal) };
    } catch (error) {
      signal.throwIfAborted();
      const { key, revision } = entry;
      if (error instanceof Failure) return { kind: "unreadable", key, revision, error };
      throw error;
    }
  }

  #decoded(cipher: PayloadCipher, key: string, data: Uint8Array): MessageShape<Schema> {
    try {
      return fromBinary(this.#schema, data, storedReadOptions);
    } catch (cause) {
      throw cipher.altered(this.#at(key), cause);
    }
  }

  #at(key: string): Place {
    return { tenant: tenantOfKey(key), name: `${this.#name}/${key}` };
  }
}
