import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { patiently } from "@reeve/platform/async/patiently";
import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { lastUsedMs, withUse, withHolder } from "./workspace-record.ts";
import type { OpenWorkspace, WorkspaceRequest, Workspaces } from "@reeve/calls/ports/workspaces";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";
import { HeldWorkspace } from "./held-workspace.ts";
import { stageInputs } from "./stage-inputs.ts";
import { UsedWorkspace } from "./used-workspace.ts";
import { WorkspaceSaver } from "./workspace-saver.ts";
import { takeWorkspace } from "./take-workspace.ts";
import { archiveTimeoutMs } from "@reeve/sandbox/files/workspace-archive";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** How long the saving of all workspaces may take when the host ends. */
const drainMs = 60_000;
/** How long a call waits for its workspace while the store is away. */
const patienceMs = 30_000;
/** How exactly the time of the last use is known. */
const notedEveryMs = 3_600_000;

/** The workspaces that lie at this place and were used by this host: taken when they are wanted, saved when they rest. */
export class WorkspaceKeeper implements Workspaces, AsyncDisposable {
  readonly #ports: WorkspacePorts;
  readonly #held = new Map<string, HeldWorkspace>();
  readonly #taking = new Map<string, Promise<void>>();
  /** Workspaces that are let go; whoever wants one waits for that. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #saving: WorkspaceSaver;
  #isEnding = false;

  constructor(ports: WorkspacePorts) {
    this.#ports = ports;
    this.#saving = new WorkspaceSaver(ports, (held) => this.#forget(held));
  }

  async open(wanted: WorkspaceRequest, signal: AbortSignal): Promise<OpenWorkspace> {
    for (const name of [wanted.tenant, wanted.id, wanted.runId]) refuseUnlessName(name);
    const held = await this.#acquire(wanted, signal);
    const end = () => {
      held.users--;
      if (wanted.callId === "") held.clientAccessMs = this.#ports.now();
      if (held.users === 0) this.#saving.scheduleSave(held);
    };
    try {
      const { place, limits } = this.#ports;
      const sandbox = place.sandbox(wanted.tenant, held.record.folder);
      this.#saving.cancelScheduled(held);
      this.#noteUse(held);
      const bounded = workspaceSandbox(sandbox, { quota: limits });
      await stageInputs(held, wanted, bounded, this.#ports, signal);
      return new UsedWorkspace(held, wanted, sandbox, { limits, onEnd: end });
    } catch (error) {
      end();
      throw error;
    }
  }

  /**
   * Lets a workspace go for another host, after it was saved. False: not yet, because calls are running there or it is
   * being saved; it is let go by itself when that is done. What cannot be saved is let go all the same: its record says
   * what is lost then. Whoever wants it here meanwhile waits, and has to take it back.
   */
  async release(key: WorkspaceKey, onlyAsk: boolean): Promise<boolean> {
    const name = nameOf(key);
    const held = this.#held.get(name);
    if (this.#taking.has(name) || this.#leaving.has(name)) return false;
    if (held === undefined || (onlyAsk && held.users === 0)) return true;
    if (held.users > 0) return false;
    const signal = AbortSignal.timeout(archiveTimeoutMs);
    const isUnsaved = held.isUnsaved;
    const left = this.#alone(name, () =>
      this.#leave(held, signal).finally(() => this.#forget(held)),
    );
    const told = left.catch((error: unknown) =>
      this.#ports.log.warn({ err: error, ...key }, "workspace let go without being saved"),
    );
    if (!isUnsaved) await told;
    return !isUnsaved;
  }

  /** The workspaces that rest, for those that look after them. */
  get idle(): readonly HeldWorkspace[] {
    return [...this.#held.values()].filter(({ users }) => users === 0);
  }

  /** Saves a resting workspace if that is owed, and takes it away from this place. False: it is used again. */
  async evict(held: HeldWorkspace, signal: AbortSignal): Promise<boolean> {
    const name = nameOf(held.key);
    if (held.users > 0 || this.#leaving.has(name)) return false;
    return await this.#alone(name, () => this.#saving.evict(held, signal));
  }

  /** Whether a folder belongs to a workspace that is here, or on its way here. */
  has({ tenant, id }: WorkspaceKey): boolean {
    const name = nameOf({ tenant, id });
    return this.#held.has(name) || this.#taking.has(name);
  }

  /** Whether a workspace is used here, or on its way here. */
  isUsed({ tenant, id }: WorkspaceKey): boolean {
    const name = nameOf({ tenant, id });
    return this.#taking.has(name) || (this.#held.get(name)?.users ?? 0) > 0;
  }

  /** Lets a resting workspace go whose record was deleted. */
  drop({ tenant, id }: WorkspaceKey): void {
    const held = this.#held.get(nameOf({ tenant, id }));
    if (held?.users === 0) this.#forget(held);
  }

  /** Has all records read again before they are believed: the store was away. */
  invalidate(): void {
    for (const held of this.#held.values()) held.invalidate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    const signal = AbortSignal.timeout(drainMs);
    await Promise.allSettled(this.#taking.values());
    await Promise.allSettled([...this.#held.values()].map((held) => this.#leave(held, signal)));
    await this.#saving[Symbol.asyncDispose]();
  }

  /** The workspace, with one user more from the moment on at which it was seen to be here. */
  async #acquire(wanted: WorkspaceRequest, signal: AbortSignal): Promise<HeldWorkspace> {
    const name = nameOf(wanted);
    for (;;) {
      signal.throwIfAborted();
      if (this.#isEnding) throw ending();
      const held = this.#held.get(name);
      // Whoever began it may have been cancelled, which is nobody else's end.
      const underWay = this.#leaving.get(name) ?? this.#taking.get(name);
      if (underWay !== undefined) await underWay.catch(() => undefined);
      else if (held === undefined) await this.#take(wanted, signal);
      else if (!this.#ports.place.has(wanted.tenant, held.record.folder)) this.#forget(held);
      else if (held.isFresh) {
        held.users++;
        return held;
      } else if (!(await held.isHere(signal))) this.#forget(held);
    }
  }

  async #take({ tenant, id }: WorkspaceRequest, signal: AbortSignal): Promise<void> {
    const key = { tenant, id };
    const name = nameOf(key);
    const take = async () => {
      const row = await patiently(
        () => takeWorkspace(key, this.#ports, signal),
        patienceMs,
        signal,
      );
      // Made at once, so that it is there for whoever looks.
      this.#ports.place.sandbox(tenant, row.record.folder);
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

  /** Does something to a resting workspace while nobody can begin to use it. */
  async #alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
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

  /** Reading is use too; to note it now and then is enough. */
  #noteUse(held: HeldWorkspace): void {
    const { now } = this.#ports;
    if (now() - lastUsedMs(held.record) < notedEveryMs) return;
    held
      .change((record) => withUse(record, now()), AbortSignal.timeout(drainMs))
      .catch(() => undefined);
  }

  async #leave(held: HeldWorkspace, signal: AbortSignal): Promise<void> {
    await this.#saving.save(held, signal);
    // What still runs there is not saved: the record goes on naming it, to be told as lost.
    if (held.users > 0) return;
    const { host } = this.#ports;
    const free = (record: HeldWorkspace["record"]) => {
      // What is unsaved still belongs to calls of a host that shares this place: it is the one to be asked for them.
      const other = record.unsaved.find((change) => change.host !== host)?.host ?? "";
      return record.holder === host ? withHolder(record, other) : record;
    };
    if (held.record.holder === host) await held.change(free, signal);
    this.#forget(held);
  }

  #forget(held: HeldWorkspace): void {
    this.#saving.cancelScheduled(held);
    if (this.#held.get(nameOf(held.key)) === held) this.#held.delete(nameOf(held.key));
  }
}

function nameOf({ tenant, id }: WorkspaceKey): string {
  return `${tenant}/${id}`;
}

/** Names become folders and keys, so they may hold nothing that means something there. */
function refuseUnlessName(name: string): void {
  if (/^[A-Za-z0-9_-]{1,200}$/.test(name)) return;
  const problem = `"${name}" is not a name of a run or tenant`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}

function ending(): Failure {
  const problem = "the toolhost ends; call again, and another one has the workspace";
  return new Failure("unavailable", ErrorReason.DRAINING, problem);
}
