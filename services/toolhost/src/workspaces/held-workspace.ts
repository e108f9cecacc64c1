import { bucketOf } from "@reeve/contracts/channel";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { patiently } from "@reeve/platform/async/patiently";
import type { Row } from "@reeve/jetstream/table/port";
import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { isUnsaved, withChanges } from "./workspace-record.ts";
import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** How long a change of a record waits for a store that is away. */
const patienceMs = 30_000;
/** How long a record that was read is believed: less than any other host waits before it takes a workspace without asking. */
const believedMs = 1_000;

/** Changes belong to calls of different signals: none of them ends those of the others. */
const never = new AbortController().signal;

type Change = (record: WorkspaceRecord) => WorkspaceRecord;

/** A workspace that lies here, and its record, which is changed by one compare-and-set at a time. */
export class HeldWorkspace {
  readonly key: WorkspaceKey;
  readonly #ports: WorkspacePorts;
  readonly #pending: { readonly change: Change; readonly done: PromiseWithResolvers<void> }[] = [];
  #row: Row<WorkspaceRecord>;
  #isChanging = false;
  #believedUntil: number;
  /** How many calls use it. */
  users = 0;
  /** When a client last did something with it, in milliseconds since 1970. 0: never, as far as this process knows. */
  clientAccessMs = 0;
  /** Whether a result is on its way that tells of losses. */
  isReportingLosses = false;
  /** Resolves when the input files of a run that is named are laid in. */
  readonly staging = new Map<string, Promise<void>>();

  constructor(key: WorkspaceKey, row: Row<WorkspaceRecord>, ports: WorkspacePorts) {
    this.key = key;
    this.#row = row;
    this.#ports = ports;
    this.#believedUntil = performance.now() + believedMs;
  }

  get record(): WorkspaceRecord {
    return this.#row.record;
  }

  get isUnsaved(): boolean {
    return isUnsaved(this.record);
  }

  /** Whether something is in no snapshot that calls of this host have done. */
  get hasOwnUnsavedChanges(): boolean {
    const { unsaved, laid, savedRevision } = this.record;
    return (
      unsaved.some(({ host }) => host === this.#ports.host) ||
      laid.some(({ revision, isSaved }) => !isSaved && revision > savedRevision)
    );
  }

  /** Names a call in the record that may change files from now on, and gives the revision. */
  async recordCall({ callId, tool }: WorkspaceRequest, signal: AbortSignal): Promise<number> {
    const change = { callId, tool, host: this.#ports.host };
    const { now } = this.#ports;
    let revision = 0;
    await this.change((record) => {
      const next = withChanges(record, [change], now());
      ({ revision } = next);
      return next;
    }, signal);
    return revision;
  }

  /**
   * Changes the record. Changes that come together are written together. Throws a Failure of kind `conflict` when the
   * workspace is not here any more, and `unavailable` when the store stays away.
   */
  async change(change: Change, signal: AbortSignal): Promise<void> {
    const done = Promise.withResolvers<void>();
    const abort = () => done.reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    this.#pending.push({ change, done });
    if (!this.#isChanging) void this.#write();
    try {
      await done.promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Whether the record was seen a moment ago. */
  get isFresh(): boolean {
    return performance.now() < this.#believedUntil;
  }

  /** Whether the workspace is still here, by its record. */
  async isHere(signal: AbortSignal): Promise<boolean> {
    if (this.isFresh) return true;
    const askedAt = performance.now();
    const row = await this.#ports.records.get(this.#row.key, signal);
    if (row === undefined || !this.#isOurs(row.record)) return false;
    // A change of ours that was written meanwhile is the newer one.
    if (row.revision > this.#row.revision) this.#row = row;
    this.#believedUntil = askedAt + believedMs;
    return true;
  }

  /** Has the record read again before it is believed: the store was away. */
  invalidate(): void {
    this.#believedUntil = 0;
  }

  async #write(): Promise<void> {
    this.#isChanging = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0);
      const changes = batch.map(({ change }) => change);
      try {
        await patiently(() => this.#writeAll(changes), patienceMs, never);
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    this.#isChanging = false;
  }

  async #writeAll(changes: readonly Change[]): Promise<void> {
    const { records } = this.#ports;
    for (;;) {
      const { key, record, revision } = this.#row;
      const next = changes.reduce((before, change) => change(before), record);
      const askedAt = performance.now();
      const row = await records.update(key, next, revision, never);
      if (row !== undefined) {
        this.#row = row;
        this.#believedUntil = askedAt + believedMs;
        return;
      }
      const there = await records.get(key, never);
      if (there === undefined || !this.#isOurs(there.record)) {
        this.invalidate();
        throw this.#isGone();
      }
      this.#row = there;
    }
  }

  #isOurs({ place, folder }: WorkspaceRecord): boolean {
    return place === this.#ports.place.id && folder === this.record.folder;
  }

  #isGone(): Failure {
    const problem = `the workspace ${this.key.id} was taken over by another toolhost; what this call did to its files is gone`;
    return new Failure("conflict", ErrorReason.UNAVAILABLE, problem);
  }
}

/** The key of the record of a workspace. */
export function recordKeyOf({ tenant, id }: WorkspaceKey): string {
  return bucketOf(WorkspaceRecordSchema).key({ tenant, workspace: id });
}
