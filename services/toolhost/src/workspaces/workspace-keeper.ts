// The workspaces on this host. Invariants, each with the test that enforces it (in workspace-keeper.test.ts unless named):
//
// W1. A call uses a workspace only while the record names this storage and folder, and this host has read or written the record
//     within the last second: less than any other host waits before it takes a workspace without a reply.
//     ("of a host that comes back too late accepts no more changes from it")
// W2. A command that may write ends only after the record names its call, so that a lost change is always reported.
//     ("has one more revision for each call that may write, and none for those that only read"; "of a lost host is as it was
//     last saved; missing changes are reported once")
// W3. A workspace is released, saved for another host, or evicted only while no call of this host uses it. A call that needs it
//     meanwhile waits. ("is not taken while a call runs there")
// W4. Files leave this host only after they are in a snapshot, or after the record lists what is lost. ("leaves its host when it
//     is evicted, and comes back from its snapshot"; evict-workspaces.test.ts: "a workspace that cannot be saved is given up in
//     the end, and its losses are reported"; workspace-handover.test.ts: "with a call that does not end is not released as if
//     it were saved by a host that ends")
// W5. Of concurrent calls one reports the losses, and they stay in the record until its result is recorded. ("reports losses in
//     one of several concurrent calls")
// W6. The input files of a run are staged once, and again only where they were lost. ("gets the input files of a run once, and
//     again where they were lost")
// W7. A call begins after the calls of other runs in the workspace on this host have ended: those of a run that failed, or was
//     interrupted, may not have ended yet when the next run begins. ("is not used by a run while a call of another run uses it")
import type {
  OpenWorkspace,
  WorkspaceKey,
  WorkspaceRequest,
  Workspaces,
} from "@reeve/calls/ports/workspaces";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import { outlastOutage } from "@reeve/platform/async/retry/outlast-outage";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import { archiveTimeoutMs } from "@reeve/sandbox/files/workspace-archive";
import { HeldWorkspace, recordKeyOf } from "./held-workspace.ts";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";
import { stageInputs } from "./stage-inputs.ts";
import { takeWorkspace } from "./take-workspace.ts";
import { UsedWorkspace } from "./used-workspace.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { lastUsedMs, withHolder, withUse } from "./workspace-record.ts";
import { WorkspaceSaver } from "./workspace-saver.ts";

/** How long saving all workspaces may take when the host ends. */
const drainMs = 60_000;
/** How long a workspace is tried to be taken while the store answers. */
const takeTimeoutMs = 30_000;
/** Precision of the recorded time of the last use. */
const usePrecisionMs = 3_600_000;

/** The workspaces that this host has used: taken when a call needs them, saved when they are idle. */
export class WorkspaceKeeper implements Workspaces, AsyncDisposable {
  readonly #ports: WorkspacePorts;
  readonly #held = new Map<string, HeldWorkspace>();
  readonly #taking = new Map<string, Promise<void>>();
  /** Workspaces that are being released or evicted. A call that needs one waits. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #saver: WorkspaceSaver;
  #isEnding = false;

  constructor(ports: WorkspacePorts) {
    this.#ports = ports;
    this.#saver = new WorkspaceSaver(ports, (held) => this.#forget(held));
  }

  async open(request: WorkspaceRequest, signal: AbortSignal): Promise<OpenWorkspace> {
    for (const name of [request.tenant, request.id, request.runId]) assertValidName(name);
    const { held, leave } = await this.#acquire(request, signal);
    const onEnd = () => {
      leave();
      if (request.callId === "") held.clientAccessMs = this.#ports.now();
      if (held.users === 0) this.#saver.scheduleSave(held);
    };
    try {
      const { storage, limits } = this.#ports;
      const sandbox = storage.sandbox(request.tenant, held.record.folder);
      this.#saver.cancelScheduled(held);
      this.#recordUse(held);
      const bounded = workspaceSandbox(sandbox, { quota: limits });
      const stage = () => stageInputs(held, request, bounded, this.#ports, signal);
      await this.#outlast(request, stage, signal);
      return new UsedWorkspace(held, request, sandbox, { limits, onEnd });
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  /**
   * Releases a workspace to another host after saving it. Returns false while calls use it or it is being saved; once saved, it
   * is released without another request. A workspace that cannot be saved is released as well: its record lists what is lost
   * then. A call of this host that needs it meanwhile waits, and has to take it back.
   */
  async release(key: WorkspaceKey, onlyAsk: boolean): Promise<boolean> {
    const name = nameOf(key);
    const held = this.#held.get(name);
    if (this.#taking.has(name) || this.#leaving.has(name)) return false;
    if (held === undefined || (onlyAsk && held.users === 0)) return true;
    if (held.users > 0) return false;
    const signal = AbortSignal.timeout(archiveTimeoutMs);
    const isUnsaved = held.isUnsaved;
    const leaving = this.#exclusively(name, () =>
      this.#leave(held, signal).finally(() => this.#forget(held)),
    );
    const released = leaving.catch((error: unknown) =>
      this.#ports.log.warn({ err: error, ...key }, "workspace released without being saved"),
    );
    if (!isUnsaved) await released;
    return !isUnsaved;
  }

  /** The workspaces that no call uses. */
  get idle(): readonly HeldWorkspace[] {
    return [...this.#held.values()].filter(({ users }) => users === 0);
  }

  /** How many workspaces this host has. */
  get count(): number {
    return this.#held.size;
  }

  /** Saves an idle workspace if it has unsaved changes, and removes it from this host. False: it is used again. */
  async evict(held: HeldWorkspace, signal: AbortSignal): Promise<boolean> {
    const name = nameOf(held.key);
    if (held.users > 0 || this.#leaving.has(name)) return false;
    return await this.#exclusively(name, () => this.#saver.evict(held, signal));
  }

  /** Whether this host has a workspace, or is taking it. */
  has({ tenant, id }: WorkspaceKey): boolean {
    const name = nameOf({ tenant, id });
    return this.#held.has(name) || this.#taking.has(name);
  }

  /** Whether a call uses a workspace here, or is taking it. */
  isUsed({ tenant, id }: WorkspaceKey): boolean {
    const name = nameOf({ tenant, id });
    return this.#taking.has(name) || (this.#held.get(name)?.users ?? 0) > 0;
  }

  /** Forgets an idle workspace whose record was deleted. */
  drop({ tenant, id }: WorkspaceKey): void {
    const held = this.#held.get(nameOf({ tenant, id }));
    if (held?.users === 0) this.#forget(held);
  }

  /** Has all records read again before their next use, because the store was unavailable. */
  invalidate(): void {
    for (const held of this.#held.values()) held.invalidate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    const signal = AbortSignal.timeout(drainMs);
    await Promise.allSettled(this.#taking.values());
    await Promise.allSettled([...this.#held.values()].map((held) => this.#leave(held, signal)));
    await this.#saver[Symbol.asyncDispose]();
  }

  /** Returns the workspace with one more user. Nothing runs between the check that it is here and the count. */
  async #acquire(request: WorkspaceRequest, signal: AbortSignal) {
    const name = nameOf(request);
    for (;;) {
      signal.throwIfAborted();
      if (this.#isEnding) throw ending();
      const held = this.#held.get(name);
      // The call that started it may have been cancelled. That must not end this one.
      const inProgress = this.#leaving.get(name) ?? this.#taking.get(name);
      if (inProgress !== undefined) await inProgress.catch(() => undefined);
      else if (held === undefined) await this.#take(request, signal);
      else if (!this.#ports.storage.has(request.tenant, held.record.folder)) this.#forget(held);
      else if (held.isFresh) {
        const other = held.callOfAnother(request);
        if (other === undefined) return { held, leave: held.use(request) };
        await abortable(other, signal);
      } else if (!(await held.isHere(signal))) this.#forget(held);
    }
  }

  async #take(request: WorkspaceRequest, signal: AbortSignal): Promise<void> {
    const { tenant, id } = request;
    const key = { tenant, id };
    const name = nameOf(key);
    const take = async () => {
      const limits = { maxElapsedMs: takeTimeoutMs, clock: this.#ports.clock };
      const takeOnce = () => takeWorkspace(key, this.#ports, signal);
      const tryToTake = () => retryUnavailable(takeOnce, limits, signal);
      const row = await this.#outlast(request, tryToTake, signal);
      // Creates the folder at once, so that `storage.has` finds it.
      this.#ports.storage.sandbox(tenant, row.record.folder);
      this.#held.set(name, new HeldWorkspace(key, row, this.#ports));
    };
    const taking = take();
    this.#taking.set(name, taking);
    try {
      await taking;
    } finally {
      this.#taking.delete(name);
    }
  }

  /** A call waits for a store that is away. A client, who can repeat the request, does not. */
  async #outlast<Result>(
    request: WorkspaceRequest,
    operation: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    if (request.callId === "") return await operation();
    const { records, clock } = this.#ports;
    const answers = () => records.get(recordKeyOf(request), signal);
    return await outlastOutage(operation, { answers, clock, maxFailures: 1 }, signal);
  }

  /** Works on an idle workspace while no call can start to use it. */
  async #exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const working = work();
    this.#leaving.set(
      name,
      working.then(
        () => undefined,
        () => undefined,
      ),
    );
    try {
      return await working;
    } finally {
      this.#leaving.delete(name);
    }
  }

  /** Reading is use too. Recording it once per hour is enough. */
  #recordUse(held: HeldWorkspace): void {
    const { now } = this.#ports;
    if (now() - lastUsedMs(held.record) < usePrecisionMs) return;
    held
      .change((record) => withUse(record, now()), AbortSignal.timeout(drainMs))
      .catch(() => undefined);
  }

  async #leave(held: HeldWorkspace, signal: AbortSignal): Promise<void> {
    await this.#saver.save(held, signal);
    // Changes of a call that still runs are not saved. The record keeps naming it, so that they are reported as lost.
    if (held.users > 0) return;
    const { host } = this.#ports;
    const release = (record: HeldWorkspace["record"]) => {
      // Unsaved changes belong to calls of a host that shares this storage: that host has to be asked for them.
      const other = record.unsaved.find((change) => change.host !== host)?.host ?? "";
      return record.holder === host ? withHolder(record, other) : record;
    };
    if (held.record.holder === host) await held.change(release, signal);
    this.#forget(held);
  }

  #forget(held: HeldWorkspace): void {
    this.#saver.cancelScheduled(held);
    if (this.#held.get(nameOf(held.key)) === held) this.#held.delete(nameOf(held.key));
  }
}

function nameOf({ tenant, id }: WorkspaceKey): string {
  return `${tenant}/${id}`;
}

/** Names become folders and keys, so they must not contain characters that have a meaning there. */
function assertValidName(name: string): void {
  if (/^[A-Za-z0-9_-]{1,200}$/.test(name)) return;
  const problem = `"${name}" is not a name of a tenant, a run, or a workspace`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}

function ending(): Failure {
  const problem =
    "the toolhost is shutting down; call again, and another toolhost takes the workspace";
  return new Failure("unavailable", ErrorReason.DRAINING, problem);
}
