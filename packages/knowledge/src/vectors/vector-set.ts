import { setImmediate as yieldTurn } from "node:timers/promises";

/** A vector that is close to another one. */
export interface Neighbor {
  readonly object: string;
  /** Place of the passage in its document, starting at 0. */
  readonly ordinal: number;
  /** Cosine of the angle between the two, more than 0. */
  readonly similarity: number;
}

interface DocumentVectors {
  readonly values: Int8Array;
  readonly dimensions: number;
  /** The length of each vector. */
  readonly lengths: Float32Array;
}

/** Multiplying this many values takes a few milliseconds. Other work of the process then gets a turn. */
const valuesPerTurn = 4_000_000;

/** The vectors of the passages of a collection, in memory. A search compares all of them. */
export class VectorSet {
  readonly #documents = new Map<string, DocumentVectors>();

  /** The memory of the vectors. */
  get bytes(): number {
    let sum = 0;
    for (const { values, lengths } of this.#documents.values()) {
      sum += values.byteLength + lengths.byteLength;
    }
    return sum;
  }

  /** Whether the set has vectors of a document, with as many values as a query has. */
  has(object: string, dimensions: number): boolean {
    return this.#documents.get(object)?.dimensions === dimensions;
  }

  /** Adds the vectors of a document, in place of earlier ones. */
  set(object: string, values: Int8Array, dimensions: number): void {
    const count = dimensions === 0 ? 0 : Math.floor(values.length / dimensions);
    const lengths = new Float32Array(count);
    for (let index = 0; index < count; index++) {
      const start = index * dimensions;
      lengths[index] = lengthOf(values.subarray(start, start + dimensions));
    }
    this.#documents.set(object, { values, dimensions, lengths });
  }

  delete(object: string): void {
    this.#documents.delete(object);
  }

  /** Returns the vectors that are closest to a query, closest first. Those with another number of values are left out. */
  async search(query: Int8Array, limit: number): Promise<readonly Neighbor[]> {
    const nearest = new Nearest(limit);
    const queryLength = lengthOf(query);
    let compared = 0;
    for (const [object, { values, dimensions, lengths }] of this.#documents) {
      if (dimensions !== query.length) continue;
      for (const [ordinal, length] of lengths.entries()) {
        const start = ordinal * dimensions;
        let product = 0;
        for (let index = 0; index < dimensions; index++) {
          product += (values[start + index] ?? 0) * (query[index] ?? 0);
        }
        const similarity = product / (length * queryLength);
        // Not a number: one of the two has no direction.
        if (similarity > 0) nearest.add({ object, ordinal, similarity });
        compared += dimensions;
        if (compared < valuesPerTurn) continue;
        compared = 0;
        await yieldTurn();
      }
    }
    return nearest.all;
  }
}

function lengthOf(vector: Int8Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

/** The closest neighbors so far, closest first. */
class Nearest {
  readonly #limit: number;
  readonly #found: Neighbor[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get all(): readonly Neighbor[] {
    return this.#found;
  }

  add(neighbor: Neighbor): void {
    const last = this.#found.at(-1);
    const isFull = this.#found.length >= this.#limit;
    if (isFull && (last === undefined || last.similarity >= neighbor.similarity)) return;
    if (isFull) this.#found.pop();
    const place = this.#found.findIndex(({ similarity }) => similarity < neighbor.similarity);
    this.#found.splice(place === -1 ? this.#found.length : place, 0, neighbor);
  }
}
