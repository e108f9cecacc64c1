import { clone, create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Losses, WorkspaceKey } from "@reeve/calls/ports/workspaces";
import type { FileChange, WorkspaceRecord, WorkspaceSnapshot } from "@reeve/contracts/tool";
import {
  FileChangeSchema,
  LaidRunSchema,
  WorkspaceRecordSchema,
  WorkspaceSnapshotSchema,
} from "@reeve/contracts/tool";
import { snapshotName } from "@reeve/jetstream/objects/workspace-store";

/** How many calls with unsaved changes, and how many with lost ones, a record names. It only counts the others. */
const maxNamed = 64;
/** How many runs with staged input files a record names. */
const maxStagedRuns = 64;

/** The host that holds a workspace, and where its files are. */
export interface Placement {
  readonly holder: string;
  readonly place: string;
  readonly folder: string;
}

const nowhere: Placement = { holder: "", place: "", folder: "" };

/** Returns the record of a new workspace. */
export function newRecord(key: WorkspaceKey, placement: Placement, nowMs: number): WorkspaceRecord {
  return create(WorkspaceRecordSchema, { ...key, ...placement, lastUsed: timestampFromMs(nowMs) });
}

/** Returns the record with changes that calls may be about to make. Each makes a revision. */
export function withChanges(
  record: WorkspaceRecord,
  changes: readonly Pick<FileChange, "callId" | "tool" | "host">[],
  nowMs: number,
): WorkspaceRecord {
  const next = withUse(record, nowMs);
  for (const change of changes) {
    next.revision++;
    const known = next.unsaved.find(
      ({ callId, host }) => callId === change.callId && host === change.host,
    );
    if (known !== undefined) known.revision = next.revision;
    else if (next.unsaved.length < maxNamed) {
      next.unsaved.push(create(FileChangeSchema, { ...change, revision: next.revision }));
    } else next.unsavedMore++;
  }
  return next;
}

/** Returns the record with the input files of a run staged. If they are lost, they are staged again rather than reported. */
export function withStagedInputs(
  record: WorkspaceRecord,
  runId: string,
  nowMs: number,
): WorkspaceRecord {
  const next = withUse(record, nowMs);
  next.revision++;
  const others = next.laid.filter((staged) => staged.runId !== runId);
  const staged = create(LaidRunSchema, { runId, revision: next.revision });
  next.laid = [...others, staged].slice(-maxStagedRuns);
  return next;
}

/** Whether any change of the workspace is in no snapshot. */
export function isUnsaved(record: WorkspaceRecord): boolean {
  return record.savedRevision < record.revision;
}

/** A snapshot that was made, and the changes that it is known to contain. */
export interface Snapshot {
  /** Its name in the object store, which ends with its digest. Empty: the workspace had no files. */
  readonly name: string;
  readonly bytes: number;
  readonly savedMs: number;
  /** Whether a call of this host may have changed files while the snapshot was made. */
  readonly isDisturbed: boolean;
  /** The revision of the record when the snapshot was started. */
  readonly revision: number;
  /** The changes of that record that the snapshot contains completely. */
  readonly covered: readonly FileChange[];
  /** How many changes that record counted without naming them. */
  readonly unsavedMore: number;
}

/**
 * Returns the record with a new snapshot. Changes that started later, or that it does not cover, stay unsaved. Of the snapshots
 * with the exact files of a revision that a result names, the record keeps the last `maxKept`.
 */
export function withSnapshot(
  record: WorkspaceRecord,
  snapshot: Snapshot,
  maxKept: number,
): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  const covered = new Set(snapshot.covered.map(idOf));
  next.unsaved = next.unsaved.filter((change) => !covered.has(idOf(change)));
  // Changes that are only counted cannot be told apart. They count as saved when no named one is left.
  if (next.unsaved.length === 0) {
    next.unsavedMore = Math.max(0, next.unsavedMore - snapshot.unsavedMore);
  }
  const firstUnsaved = Math.min(...next.unsaved.map(({ revision }) => revision));
  next.savedRevision = Math.max(next.savedRevision, Math.min(snapshot.revision, firstUnsaved - 1));
  for (const staged of next.laid) staged.isSaved ||= staged.revision <= snapshot.revision;
  next.snapshot = snapshot.name;
  next.snapshotSize = BigInt(snapshot.bytes);
  const isExact = !snapshot.isDisturbed && next.savedRevision === record.revision;
  if (isExact && isNamedByResult(record)) next.snapshots.push(entryOf(snapshot));
  next.snapshots = maxKept === 0 ? [] : next.snapshots.slice(-maxKept);
  return next;
}

/** Whether a call made the last revision, so that its result names the revision. Clients and input files make revisions too. */
function isNamedByResult({ revision, unsaved, unsavedMore }: WorkspaceRecord): boolean {
  const change = unsaved.find((known) => known.revision === revision);
  return change === undefined ? unsavedMore > 0 : change.callId !== "";
}

function entryOf({ name, bytes, revision, savedMs }: Snapshot): WorkspaceSnapshot {
  const digest = new Uint8Array(Buffer.from(name.slice(name.lastIndexOf("/") + 1), "hex"));
  const savedAt = timestampFromMs(savedMs);
  return create(WorkspaceSnapshotSchema, { revision, digest, sizeBytes: BigInt(bytes), savedAt });
}

/** Returns the record without the snapshots of revisions that were made before a time. It keeps the last snapshot. */
export function withoutSnapshotsBefore(record: WorkspaceRecord, timeMs: number): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  next.snapshots = next.snapshots.filter(({ savedAt }) => {
    return savedAt !== undefined && timestampMs(savedAt) >= timeMs;
  });
  return next;
}

/** Returns the record after the workspace was restored from its snapshot. Changes that are not in it are lost. */
export function withTakeover(
  record: WorkspaceRecord,
  placement: Placement,
  isSnapshotLost: boolean,
  nowMs: number,
): WorkspaceRecord {
  const next = Object.assign(withUse(record, nowMs), placement);
  const lost = [...next.lost, ...next.unsaved];
  next.lost = lost.slice(0, maxNamed);
  next.lostMore += next.unsavedMore + lost.length - next.lost.length;
  next.unsaved = [];
  next.unsavedMore = 0;
  if (isSnapshotLost) {
    next.snapshots = next.snapshots.filter(
      (kept) => snapshotName(record, kept) !== record.snapshot,
    );
    Object.assign(next, { lostSnapshot: true, snapshot: "", snapshotSize: 0n, laid: [] });
  }
  next.laid = next.laid.filter(
    ({ revision, isSaved }) => isSaved || revision <= next.savedRevision,
  );
  next.savedRevision = next.revision;
  return next;
}

/** Returns the record with another holder of the same files. Empty: none. */
export function withHolder(record: WorkspaceRecord, holder: string): WorkspaceRecord {
  return Object.assign(clone(WorkspaceRecordSchema, record), { holder });
}

/** Returns the record of a workspace whose files are only in its snapshot. */
export function withoutPlace(record: WorkspaceRecord): WorkspaceRecord {
  return Object.assign(clone(WorkspaceRecordSchema, record), nowhere);
}

/** Returns the record of a workspace that was given up: its files are only in its snapshot, and unsaved changes are lost. */
export function withoutUnsaved(record: WorkspaceRecord, nowMs: number): WorkspaceRecord {
  return withTakeover(record, nowhere, false, nowMs);
}

/** Returns the losses that no result has reported. Undefined: there are none. */
export function lossesOf({ lost, lostMore, lostSnapshot }: WorkspaceRecord): Losses | undefined {
  return lost.length > 0 || lostMore > 0 || lostSnapshot
    ? { lost, lostMore, lostSnapshot }
    : undefined;
}

/** Returns the record after these losses were reported. */
export function withReportedLosses(record: WorkspaceRecord, reported: Losses): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  const ids = new Set(reported.lost.map(idOf));
  next.lost = next.lost.filter((change) => !ids.has(idOf(change)));
  next.lostMore = Math.max(0, next.lostMore - reported.lostMore);
  next.lostSnapshot = next.lostSnapshot && !reported.lostSnapshot;
  return next;
}

/** Returns when the workspace was last used, in milliseconds since 1970. */
export function lastUsedMs({ lastUsed }: WorkspaceRecord): number {
  return lastUsed === undefined ? 0 : timestampMs(lastUsed);
}

/** Returns the record with `nowMs` as the time of its last use, unless it has a later one. */
export function withUse(record: WorkspaceRecord, nowMs: number): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  next.lastUsed = timestampFromMs(Math.max(nowMs, lastUsedMs(record)));
  return next;
}

function idOf({ callId, host, revision }: FileChange): string {
  return `${callId} ${host} ${revision}`;
}
