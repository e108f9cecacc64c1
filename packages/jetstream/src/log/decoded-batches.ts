import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

/** How much is held, as encoded; decoded events take about ten times the memory. */
const maxBytes = 1024 * 1024;
/** A larger batch is decoded by each reader, so that one does not take the room of many. */
const maxBatchBytes = 64 * 1024;

interface EncodedBatch {
  readonly revision: number;
  readonly data: Uint8Array;
}

interface DecodedBatch {
  readonly data: Uint8Array;
  readonly message: unknown;
}

/**
 * The batches that this process decoded last. Each new batch has several readers in a process: the owner of its run, watchers, and
 * projections. A batch is found by its revision and its bytes, so what is returned is what decoding them again would return.
 */
export class DecodedBatches {
  readonly #schemas = new Map<DescMessage, Map<number, DecodedBatch>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(limit = maxBytes) {
    this.#maxBytes = limit;
  }

  /** Returns the message of a batch: the held one, or what `decode` returns. */
  of<Schema extends DescMessage>(
    schema: Schema,
    { revision, data }: EncodedBatch,
    decode: () => MessageShape<Schema>,
  ): MessageShape<Schema> {
    const held = this.#heldOf(schema);
    const known = held.get(revision);
    if (known !== undefined && isSame(known.data, data)) {
      // The map has only messages of the schema.
      return known.message as MessageShape<Schema>;
    }
    const message = decode();
    // A copy: the bytes of a message are a part of all that arrived with it.
    if (data.length <= maxBatchBytes) this.#hold(held, revision, { data: data.slice(), message });
    return message;
  }

  #heldOf(schema: DescMessage): Map<number, DecodedBatch> {
    const known = this.#schemas.get(schema) ?? new Map<number, DecodedBatch>();
    this.#schemas.set(schema, known);
    return known;
  }

  #hold(held: Map<number, DecodedBatch>, revision: number, batch: DecodedBatch): void {
    this.#forget(held, revision);
    held.set(revision, batch);
    this.#bytes += batch.data.length;
    for (const others of this.#schemas.values()) {
      for (const oldest of others.keys()) {
        if (this.#bytes <= this.#maxBytes) return;
        this.#forget(others, oldest);
      }
    }
  }

  #forget(held: Map<number, DecodedBatch>, revision: number): void {
    this.#bytes -= held.get(revision)?.data.length ?? 0;
    held.delete(revision);
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.length === b.length && Buffer.compare(a, b) === 0);
}

/** Those of all logs of the process. */
export const decodedBatches = new DecodedBatches();
