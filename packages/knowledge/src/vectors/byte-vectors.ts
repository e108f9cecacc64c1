import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** More than any model has. */
export const maxDimensions = 4_096;

const largest = 127;

/**
 * Returns vectors as bytes with a sign, one after another: an eighth of their size in memory, for a loss that is smaller than the
 * differences between passages. Only their directions are kept. Throws a Failure if they are no vectors of one length.
 */
export function byteVectors(vectors: readonly (readonly number[])[]): Int8Array {
  const dimensions = vectors[0]?.length ?? 0;
  if (dimensions === 0 || dimensions > maxDimensions) {
    throw malformed(`a vector has ${dimensions} values, not 1 to ${maxDimensions}`);
  }
  const bytes = new Int8Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) {
    if (vector.length !== dimensions) {
      throw malformed(`a vector has ${vector.length} values, and another one ${dimensions}`);
    }
    if (!vector.every(Number.isFinite)) throw malformed("a vector has a value that is no number");
    const length = Math.max(...vector.map(Math.abs));
    // A vector without a direction is similar to nothing.
    if (length === 0) continue;
    bytes.set(
      vector.map((value) => Math.round((value / length) * largest)),
      index * dimensions,
    );
  }
  return bytes;
}

/** Returns the Failure of a model that does not answer with the vectors of the texts. */
export function malformed(problem: string): Failure {
  const message = `the model of embeddings answered with something else than vectors: ${problem}`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
