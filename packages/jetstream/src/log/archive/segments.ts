import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ArchiveSegment } from "@reeve/contracts/archive";
import { ArchivedBatchesSchema } from "@reeve/contracts/archive";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { bytesOf } from "../reading/batch-size.ts";
import type { StoredBatch } from "../stored-batch.ts";

const compress = promisify(gzip);
const decompress = promisify(gunzip);
/** About how many bytes of batches a segment has: what is read of an archive at a time. */
const segmentBytes = 256 * 1024;
/** The upper limit of a segment: one batch may be as large as the store accepts, and the limit of a server may be far above the default. */
const maxSegmentBytes = 256 * 1024 * 1024;
const plain = 0;
const gzipped = 1;

/** Divides the batches of a log into segments: at least one batch each. */
export class SegmentCutter {
  #batches: StoredBatch[] = [];

  /** Adds a batch. Returns the segment that it completes. */
  add(batch: StoredBatch): readonly StoredBatch[] | undefined {
    this.#batches.push(batch);
    return bytesOf(...this.#batches) < segmentBytes ? undefined : this.rest();
  }

  /** Returns the batches of the segment that is not complete. */
  rest(): readonly StoredBatch[] | undefined {
    const batches = this.#batches;
    this.#batches = [];
    return batches.length === 0 ? undefined : batches;
  }
}

/** A segment as it is stored. */
export interface EncodedSegment {
  readonly data: Uint8Array;
  readonly compression: number;
  readonly digest: Uint8Array;
}

/** Encodes batches. Encrypted ones stay as they are. */
export async function encodeSegment(batches: readonly StoredBatch[]): Promise<EncodedSegment> {
  const message = create(ArchivedBatchesSchema, {
    batches: batches.map((batch) => ({
      revision: BigInt(batch.revision),
      previousRevision: BigInt(batch.previousRevision),
      first: batch.first,
      last: batch.last,
      kinds: [...batch.kinds],
      digest: batch.digest,
      write: batch.write,
      content: batch.data,
    })),
  });
  const encoded = toBinary(ArchivedBatchesSchema, message);
  const compressed = await compress(encoded);
  // Encrypted batches do not become smaller.
  const isSmaller = compressed.length < encoded.length;
  const data = isSmaller ? compressed : encoded;
  return { data, compression: isSmaller ? gzipped : plain, digest: digestOf(data) };
}

/** Decodes a segment of `log`. Throws a Failure of kind `data_loss` if it is not the one that was stored. */
export async function decodeSegment(
  log: string,
  { digest, compression }: Pick<ArchiveSegment, "digest" | "compression">,
  data: Uint8Array,
): Promise<readonly StoredBatch[]> {
  if (Buffer.compare(digestOf(data), digest) !== 0 || compression > gzipped)
    throw archiveDamaged(log, "a segment differs from the one that was stored");
  const encoded =
    compression === gzipped ? await decompress(data, { maxOutputLength: maxSegmentBytes }) : data;
  return fromBinary(ArchivedBatchesSchema, encoded).batches.map(({ content, ...batch }) => ({
    revision: Number(batch.revision),
    previousRevision: Number(batch.previousRevision),
    first: batch.first,
    last: batch.last,
    kinds: batch.kinds,
    digest: batch.digest,
    write: batch.write,
    data: content,
  }));
}

/** Why an archive cannot be read. */
class ArchiveProblem extends Error {
  override readonly name = "ArchiveProblem";
}

/** Returns the Failure for an archive that cannot be read. */
export function archiveDamaged(log: string, problem: string): Failure {
  return new Failure(
    "data_loss",
    ErrorReason.INTERNAL,
    `the archive of the log ${log} cannot be read: ${problem}; restore the stream ARCHIVE from a backup, or delete the run`,
    { cause: new ArchiveProblem(problem) },
  );
}

/** Returns whether a read failed because an archive is missing or damaged. */
export function isArchiveDamaged(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof ArchiveProblem;
}

function digestOf(data: Uint8Array): Uint8Array {
  return createHash("sha256").update(data).digest();
}
