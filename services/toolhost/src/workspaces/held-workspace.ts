import type { WorkspaceKey, WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import type { Row } from "@reeve/jetstream/table/port";
import { abortable } from "@reeve/platform/async/abortable";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { onAbort } from "@reeve/platform/async/on-abort";
import { outlastOutage } from "@reeve/platform/async/retry/outlast-outage";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { WorkspaceLock } from "./workspace-lock.ts";
import { isUnsaved, withChanges } from "./workspace-record.ts";

/** How long a change of a record is tried while the store answers but does not accept it. */
const changeTimeoutMs = 30_000;
/** How long a record counts as fresh after a read: less than any other host waits before it takes a workspace without a reply. */
const freshMs = 1_000;

type Change = (record: WorkspaceRecord) => WorkspaceRecord;

interface PendingChange {
  readonly change: Change;
  readonly done: PromiseWithResolvers<void>;
  readonly signal: AbortSignal;
}

/** A workspace on this host and its record, which is changed by one compare-and-set at a time. */
export class HeldWorkspace {
  readonly key: WorkspaceKey;
  readonly #ports: WorkspacePorts;
  readonly #pending: PendingChange[] = [];
  #row: Row<WorkspaceRecord>;
  #isWriting = false;
  #freshUntilMs: number;
  /** Orders the commands that write to its files. */
  readonly lock = new WorkspaceLock();
  /** How many calls use it. */
  users = 0;
  /** The calls among them, without clients. */
  readonly #calls = new Set<{ readonly runId: string; readonly end: PromiseWithResolvers<void> }>();
  /** When a client last accessed its files, in milliseconds since 1970. 0: never during the lifetime of this process. */
  clientAccessMs = 0;
  /** Whether a call that reports losses is in progress. */
  isReportingLosses = false;
  /** Resolves when the input files of a run are staged, by run id. */
  readonly staging = new Map<string, Promise<void>>();

  constructor(key: WorkspaceKey, row: Row<WorkspaceRecord>, ports: WorkspacePorts) {
    this.key = key;
    this.#row = row;
    this.#ports = ports;
    this.#freshUntilMs = performance.now() + freshMs;
  }

  get record(): WorkspaceRecord {
    return this.#row.record;
  }

  get isUnsaved(): boolean {
    return isUnsaved(this.record);
  }

  /** Whether changes that calls of this host made are in no snapshot. */
  get hasOwnUnsavedChanges(): boolean {
    const { unsaved, laid: staged, savedRevision } = this.record;
    return (
      unsaved.some(({ host }) => host === this.#ports.host) ||
      staged.some(({ revision, isSaved }) => !isSaved && revision > savedRevision)
    );
  }

  /** Counts a call, or a client, as a user until the returned function is called. */
  use({ runId, callId }: Pick<WorkspaceRequest, "runId" | "callId">): () => void {
    const call = { runId, end: Promise.withResolvers<void>() };
    if (callId !== "") this.#calls.add(call);
    this.users++;
    return () => {
      this.users--;
      this.#calls.delete(call);
      call.end.resolve();
    };
  }

  /** Resolves when a call of another run ends that uses it. Undefined: there is none, or a client asks, who does not wait. */
  callOfAnother({ runId, callId }: WorkspaceRequest): Promise<void> | undefined {
    if (callId === "") return undefined;
    return [...this.#calls].find((call) => call.runId !== runId)?.end.promise;
  }

  /** Records that a call may change files from now on, and returns the revision that it makes. */
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
   * Changes the record. Concurrent changes are written together, and a change is written even if `signal` aborts meanwhile. Waits
   * for a store that is away until `signal` aborts. Throws a Failure of kind `conflict` when the workspace is no longer on this
   * host, and `unavailable` when a store that answers does not accept the change.
   */
  async change(change: Change, signal: AbortSignal): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#pending.push({ change, done, signal });
    if (!this.#isWriting) void this.#write();
    await abortable(done.promise, signal);
  }

  /** Whether the record was read or written within the last second. */
  get isFresh(): boolean {
    return performance.now() < this.#freshUntilMs;
  }

  /** Whether the workspace is still on this host, according to its record. */
  async isHere(signal: AbortSignal): Promise<boolean> {
    if (this.isFresh) return true;
    const readAtMs = performance.now();
    const row = await this.#ports.records.get(this.#row.key, signal);
    if (row === undefined || !this.#isOwn(row.record)) return false;
    // A change of this host may have been written meanwhile; its row is newer.
    if (row.revision > this.#row.revision) this.#row = row;
    this.#freshUntilMs = readAtMs + freshMs;
    return true;
  }

  /** Has the record read again before the next use, because the store was unavailable. */
  invalidate(): void {
    this.#freshUntilMs = 0;
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0);
      const changes = batch.map(({ change }) => change);
      try {
        await this.#writeUntil(changes, batch);
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** Writes changes of several callers, for as long as one of them waits while the store is away. */
  async #writeUntil(changes: readonly Change[], callers: readonly PendingChange[]): Promise<void> {
    const { records, clock } = this.#ports;
    const limits = { maxElapsedMs: changeTimeoutMs, clock };
    // The changes belong to calls with different signals. None of them ends the changes of the others.
    const write = () => retryUnavailable(() => this.#writeAll(changes), limits, neverAborts);
    try {
      await write();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "unavailable") throw error;
      using waiting = whileAny(callers.map(({ signal }) => signal));
      const answers = () => records.get(this.#row.key, waiting.signal);
      await outlastOutage(write, { answers, clock, maxFailures: 1 }, waiting.signal);
    }
  }

  async #writeAll(changes: readonly Change[]): Promise<void> {
    const { records } = this.#ports;
    for (;;) {
      const { key, record, revision } = this.#row;
      const next = changes.reduce((before, change) => change(before), record);
      const writtenAtMs = performance.now();
      const row = await records.update(key, next, revision, neverAborts);
      if (row !== undefined) {
        this.#row = row;
        this.#freshUntilMs = writtenAtMs + freshMs;
        return;
      }
      const current = await records.get(key, neverAborts);
      if (current === undefined || !this.#isOwn(current.record)) {
        this.invalidate();
        throw this.#takenOver();
      }
      this.#row = current;
    }
  }

  #isOwn({ place, folder }: WorkspaceRecord): boolean {
    return place === this.#ports.storage.id && folder === this.record.folder;
  }

  #takenOver(): Failure {
    const problem = `the workspace ${this.key.id} was taken over by another toolhost; the changes of this call to its files are gone`;
    return new Failure("conflict", ErrorReason.UNAVAILABLE, problem);
  }
}

/** Returns a signal that aborts when all of the given ones have aborted. */
function whileAny(signals: readonly AbortSignal[]): Disposable & { readonly signal: AbortSignal } {
  const all = new AbortController();
  const listeners = new DisposableStack();
  let left = signals.length;
  const leave = () => {
    if (--left === 0) all.abort(new DOMException("nobody waits for the change", "AbortError"));
  };
  for (const signal of signals) listeners.use(onAbort(signal, leave));
  return { signal: all.signal, [Symbol.dispose]: () => listeners[Symbol.dispose]() };
}

/** Returns the key of the record of a workspace. */
export function recordKeyOf({ tenant, id }: WorkspaceKey): string {
  return bucketOf(WorkspaceRecordSchema).key({ tenant, workspace: id });
}
