import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/nesting";
import { isTenantKeyDeleted } from "../sealing/key-failures.ts";
import type { PayloadCipher, Place } from "../sealing/payload-cipher.ts";
import type { Row } from "./port.ts";

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

  /** Returns the row of an entry. */
  async row(
    { key, value, revision }: StoredEntry,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>>> {
    const data =
      this.#cipher === undefined ? value : await this.#cipher.open(this.#at(key), value, signal);
    return { key, record: fromBinary(this.#schema, data, storedReadOptions), revision };
  }

  /** As `row`. Returns undefined if the key of the tenant was deleted. */
  async readableRow(
    entry: StoredEntry,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>> | undefined> {
    try {
      return await this.row(entry, signal);
    } catch (error) {
      if (isTenantKeyDeleted(error)) return undefined;
      throw error;
    }
  }

  #at(key: string): Place {
    return { tenant: key.split(".")[0] ?? "", name: `${this.#name}/${key}` };
  }
}
