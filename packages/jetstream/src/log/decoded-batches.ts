import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

/** How much is held, as encoded; decoded events take about ten times the memory. */
const maxBytes = 1024 * 1024;
/** A larger batch is decoded by each reader, so that one does not take the room of many. */
const maxBatchBytes = 64 * 1024;
/** U+FFFD, which takes the place of text that has no encoding. */
const replacement = Buffer.from("\uFFFD");

interface EncodedBatch {
  /** Identifies the write of the batch: see `batchHeaders`. */
  readonly write: string;
  readonly data: Uint8Array;
}

interface DecodedBatch {
  readonly data: Uint8Array;
  readonly message: unknown;
}

/**
 * The batches that this process wrote or decoded last. Each new batch has several readers in a process: the owner of its run,
 * watchers, and projections. A batch is found by its write and its bytes. What is returned means the same as what decoding them
 * again would return.
 */
export class DecodedBatches {
  readonly #schemas = new Map<DescMessage, Map<string, DecodedBatch>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(limit = maxBytes) {
    this.#maxBytes = limit;
  }

  /** Returns the message of a batch: the held one, or what `decode` returns. */
  of<Schema extends DescMessage>(
    schema: Schema,
    { write, data }: EncodedBatch,
    decode: () => MessageShape<Schema>,
  ): MessageShape<Schema> {
    const held = this.#heldOf(schema);
    const known = held.get(write);
    if (known !== undefined && isSame(known.data, data)) {
      // The map has only messages of the schema.
      return known.message as MessageShape<Schema>;
    }
    const message = decode();
    // A copy: the bytes of a message are a part of all that arrived with it.
    if (data.length <= maxBatchBytes) this.#hold(held, write, { data: data.slice(), message });
    return message;
  }

  /**
   * Holds a batch that this process stores, with the message of which it is the encoding. Nobody may change either. Does not hold one
   * whose text may differ from what is stored: encoding replaces halves of surrogate pairs, which a tool may have returned.
   */
  add<Schema extends DescMessage>(
    schema: Schema,
    { write, data }: EncodedBatch,
    message: MessageShape<Schema>,
  ): void {
    if (data.length > maxBatchBytes || replacementIn(data)) return;
    this.#hold(this.#heldOf(schema), write, { data, message });
  }

  #heldOf(schema: DescMessage): Map<string, DecodedBatch> {
    const known = this.#schemas.get(schema) ?? new Map<string, DecodedBatch>();
    this.#schemas.set(schema, known);
    return known;
  }

  #hold(held: Map<string, DecodedBatch>, write: string, batch: DecodedBatch): void {
    this.#forget(held, write);
    held.set(write, batch);
    this.#bytes += batch.data.length;
    for (const others of this.#schemas.values()) {
      for (const oldest of others.keys()) {
        if (this.#bytes <= this.#maxBytes) return;
        this.#forget(others, oldest);
      }
    }
  }

  #forget(held: Map<string, DecodedBatch>, write: string): void {
    this.#bytes -= held.get(write)?.data.length ?? 0;
    held.delete(write);
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.length === b.length && Buffer.compare(a, b) === 0);
}

/** Those of all logs of the process. */
export const decodedBatches = new DecodedBatches();

function replacementIn({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes(replacement);
}
