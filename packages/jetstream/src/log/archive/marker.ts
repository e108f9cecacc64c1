import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { LogArchive } from "@reeve/contracts/archive";
import { LogArchiveSchema } from "@reeve/contracts/archive";
import { RunBatchSchema, RunEventSchema } from "@reeve/contracts/run";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { MsgHdrs } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import type { Tail } from "../port.ts";
import type { StoredBatch } from "../stored-batch.ts";
import { archiveHeader, batchHeaders, expectedLastHeader } from "../stored-batch.ts";

/** A closed log gets no batches: its marker may be removed. The marker of an open one stays, and batches may follow it. */
export type MarkerKind = "closed" | "open";

/** A kind that no projection of a version without archives needs, so that its feeds skip markers. */
const unneededKind = "text";

/** A message that stands for the batches that came before it. */
export interface MarkerMessage {
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

/** Returns the marker of an archived log, to be stored after the message `expectedLast` of its subject. */
export function markerMessage(
  archive: LogArchive,
  kind: MarkerKind,
  { expectedLast, write }: { readonly expectedLast: number; readonly write: string },
): MarkerMessage {
  const described = headers();
  described.set(expectedLastHeader, String(expectedLast));
  described.set(batchHeaders.first, "1");
  described.set(batchHeaders.last, String(archive.lastSequence));
  described.set(batchHeaders.kinds, unneededKind);
  described.set(batchHeaders.write, write);
  described.set(batchHeaders.digest, archive.digest);
  described.set(archiveHeader, kind);
  return { data: markerData(archive), headers: described };
}

/** Returns a closed marker that is not in the log any more, from what the index of archives knows. */
export function markerOf(archive: LogArchive, revision: number): StoredBatch {
  return {
    revision,
    first: 1,
    last: archive.lastSequence,
    kinds: [],
    digest: archive.digest,
    write: "",
    previousRevision: Number(archive.lastRevision),
    marker: "closed",
    data: markerData(archive),
  };
}

/** Returns the archive that a marker names. */
export function archiveOf({ data }: Pick<StoredBatch, "data">): LogArchive {
  const { archive } = fromBinary(RunBatchSchema, data, storedReadOptions);
  return fromBinary(LogArchiveSchema, archive);
}

/**
 * Returns the revision of the tail that a marker describes. That of a closed log is negative: no append can name it, so that an append
 * opens the log first.
 */
export function tailRevision({ marker, revision }: StoredBatch): number {
  return marker === "closed" ? -revision : revision;
}

/** Returns whether a tail was read from a log that is closed. */
export function isClosed({ revision }: Tail): boolean {
  return revision < 0;
}

/** An event of no kind, which a version without archives refuses. */
function markerData(archive: LogArchive): Uint8Array {
  const event = create(RunEventSchema, { sequence: archive.lastSequence });
  const batch = {
    firstSequence: archive.lastSequence,
    events: [event],
    archive: toBinary(LogArchiveSchema, archive),
  };
  return toBinary(RunBatchSchema, create(RunBatchSchema, batch));
}
