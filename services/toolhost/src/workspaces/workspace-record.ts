import { clone, create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { FileChange, WorkspaceRecord } from "@reeve/contracts/tool";
import type { Losses, WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { FileChangeSchema, LaidRunSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";

/** How many calls a record names of each sort; of more it says how many. */
const maxNamed = 64;
const maxStagedRuns = 64;

/** Where a workspace lies. */
export interface Placement {
  readonly holder: string;
  readonly place: string;
  readonly folder: string;
}

const nowhere: Placement = { holder: "", place: "", folder: "" };

/** The record of a workspace in which nothing has happened. */
export function newRecord(key: WorkspaceKey, placed: Placement, nowMs: number): WorkspaceRecord {
  return create(WorkspaceRecordSchema, { ...key, ...placed, lastUsed: timestampFromMs(nowMs) });
}

/** The record with the changes of calls in it that may be about to happen; each makes a revision. */
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

/** The record once the input files of a run are in the workspace. They come again by themselves when they are lost. */
export function withStagedInputs(
  record: WorkspaceRecord,
  runId: string,
  nowMs: number,
): WorkspaceRecord {
  const next = withUse(record, nowMs);
  next.revision++;
  const others = next.laid.filter((laid) => laid.runId !== runId);
  const laid = create(LaidRunSchema, { runId, revision: next.revision });
  next.laid = [...others, laid].slice(-maxStagedRuns);
  return next;
}

/** Whether anything of the workspace is in no snapshot. */
export function isUnsaved(record: WorkspaceRecord): boolean {
  return record.savedRevision < record.revision;
}

/** A snapshot that was made, and what it is known to hold: all of `covered`, which the record named when it was begun. */
export interface Snapshot {
  readonly name: string;
  readonly bytes: number;
  /** The revision of the record when it was begun. */
  readonly revision: number;
  readonly covered: readonly FileChange[];
  /** How many changes the record had then without naming them. */
  readonly unsavedMore: number;
}

/** The record with a new snapshot. Changes that began since, or that belong to others, stay unsaved. */
export function withSnapshot(record: WorkspaceRecord, snapshot: Snapshot): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  const covered = new Set(snapshot.covered.map(nameOf));
  next.unsaved = next.unsaved.filter((change) => !covered.has(nameOf(change)));
  // Those that are not named cannot be told apart: they are saved when nothing else is left.
  if (next.unsaved.length === 0) {
    next.unsavedMore = Math.max(0, next.unsavedMore - snapshot.unsavedMore);
  }
  const firstUnsaved = Math.min(...next.unsaved.map(({ revision }) => revision));
  next.savedRevision = Math.max(next.savedRevision, Math.min(snapshot.revision, firstUnsaved - 1));
  for (const laid of next.laid) laid.isSaved ||= laid.revision <= snapshot.revision;
  next.snapshot = snapshot.name;
  next.snapshotSize = BigInt(snapshot.bytes);
  return next;
}

/** The record when the workspace was laid out anew from its snapshot: what was not in there is gone, and to be told. */
export function withTakeover(
  record: WorkspaceRecord,
  placed: Placement,
  isSnapshotLost: boolean,
  nowMs: number,
): WorkspaceRecord {
  const next = Object.assign(withUse(record, nowMs), placed);
  const lost = [...next.lost, ...next.unsaved];
  next.lost = lost.slice(0, maxNamed);
  next.lostMore += next.unsavedMore + lost.length - next.lost.length;
  next.unsaved = [];
  next.unsavedMore = 0;
  if (isSnapshotLost) {
    Object.assign(next, { lostSnapshot: true, snapshot: "", snapshotSize: 0n, laid: [] });
  }
  next.laid = next.laid.filter(
    ({ revision, isSaved }) => isSaved || revision <= next.savedRevision,
  );
  next.savedRevision = next.revision;
  return next;
}

/** The record when the same place is used by another holder, or by none. */
export function withHolder(record: WorkspaceRecord, holder: string): WorkspaceRecord {
  return Object.assign(clone(WorkspaceRecordSchema, record), { holder });
}

/** The record when the workspace lies nowhere but in its snapshot. */
export function withoutPlace(record: WorkspaceRecord): WorkspaceRecord {
  return Object.assign(clone(WorkspaceRecordSchema, record), nowhere);
}

/** The record of a workspace that was given up: it lies nowhere but in its snapshot, and what is not in there is gone. */
export function withoutUnsaved(record: WorkspaceRecord, nowMs: number): WorkspaceRecord {
  return withTakeover(record, nowhere, false, nowMs);
}

/** What is gone and was not told yet. Undefined: nothing. */
export function lossesOf({ lost, lostMore, lostSnapshot }: WorkspaceRecord): Losses | undefined {
  return lost.length > 0 || lostMore > 0 || lostSnapshot
    ? { lost, lostMore, lostSnapshot }
    : undefined;
}

/** The record once these losses were told. */
export function withReportedLosses(record: WorkspaceRecord, told: Losses): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  const names = new Set(told.lost.map(nameOf));
  next.lost = next.lost.filter((change) => !names.has(nameOf(change)));
  next.lostMore = Math.max(0, next.lostMore - told.lostMore);
  next.lostSnapshot = next.lostSnapshot && !told.lostSnapshot;
  return next;
}

/** When the workspace was last used, in milliseconds since 1970. */
export function lastUsedMs({ lastUsed }: WorkspaceRecord): number {
  return lastUsed === undefined ? 0 : timestampMs(lastUsed);
}

export function withUse(record: WorkspaceRecord, nowMs: number): WorkspaceRecord {
  const next = clone(WorkspaceRecordSchema, record);
  next.lastUsed = timestampFromMs(Math.max(nowMs, lastUsedMs(record)));
  return next;
}

function nameOf({ callId, host, revision }: FileChange): string {
  return `${callId} ${host} ${revision}`;
}
