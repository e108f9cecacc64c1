import { ErrorReason } from "@reeve/contracts/error";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { TaskSet } from "@reeve/platform/async/task-set";
import { Failure } from "@reeve/platform/failure";
import type { HeldWorkspace } from "./held-workspace.ts";
import { saveWorkspace } from "./save-workspace.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { withoutPlace, withoutUnsaved } from "./workspace-record.ts";

/** How many workspaces are saved at a time: saving uses processor time and bandwidth that calls need. */
const maxConcurrent = 2;
/** A workspace that is never idle for long is saved the first time it is idle after this. */
const maxUnsavedMs = 30_000;
/** Delays after a workspace was not saved. */
const retryBackoff = { firstDelayMs: 5_000, maxDelayMs: 300_000 };
/** How many times a workspace may prove impossible to save before it is given up, once its run has ended. */
const maxRefusals = 8;
/** The share of the time of a workspace that saving may take. */
const maxTimeShare = 0.2;

interface SaveState {
  timer?: NodeJS.Timeout;
  saving?: Promise<void>;
  failures: number;
  /** How many of them were caused by the contents of the workspace. */
  refusals: number;
  /** No eviction is tried before this time of the ports' clock. */
  retryAtMs: number;
  /** How long the last save took. */
  tookMs?: number;
  /** Since when there are unsaved changes, in monotonic time. */
  unsavedSinceMs?: number;
}

/** Saves workspaces while they are idle. */
export class WorkspaceSaver implements AsyncDisposable {
  readonly #ports: WorkspacePorts;
  readonly #onLost: (held: HeldWorkspace) => void;
  readonly #slots = new Semaphore(maxConcurrent);
  readonly #states = new WeakMap<HeldWorkspace, SaveState>();
  readonly #end = new AbortController();
  readonly #inProgress = new TaskSet();

  /** `onLost` is called for each workspace that turns out to be on another host or gone. */
  constructor(ports: WorkspacePorts, onLost: (held: HeldWorkspace) => void) {
    this.#ports = ports;
    this.#onLost = onLost;
  }

  /** Schedules a save of a workspace that has become idle, if it has unsaved changes. */
  scheduleSave(held: HeldWorkspace): void {
    const state = this.#stateOf(held);
    if (!held.isUnsaved || this.#end.signal.aborted) return;
    const { saveAfterMs } = this.#ports.limits;
    state.unsavedSinceMs ??= performance.now();
    const leftMs = state.unsavedSinceMs + maxUnsavedMs - performance.now();
    const retryMs = state.failures === 0 ? 0 : delayAfter(state.failures, retryBackoff);
    clearTimeout(state.timer);
    const minIdleMs = Math.max(saveAfterMs, (state.tookMs ?? 0) / maxTimeShare);
    const delayMs = Math.max(Math.min(minIdleMs, leftMs), retryMs, 0);
    state.timer = setTimeout(() => this.#saveScheduled(held), delayMs).unref();
  }

  /** Cancels a scheduled save, because a call uses the workspace again. A save in progress continues. */
  cancelScheduled(held: HeldWorkspace): void {
    clearTimeout(this.#stateOf(held).timer);
  }

  /** Saves a workspace now, if it has unsaved changes. */
  async save(held: HeldWorkspace, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(held);
    clearTimeout(state.timer);
    while (state.saving !== undefined) await state.saving.catch(() => undefined);
    if (!held.isUnsaved) return;
    const saving = this.#inProgress.add(this.#save(held, state, signal));
    state.saving = saving;
    try {
      await saving;
    } finally {
      delete state.saving;
    }
  }

  /**
   * Saves an idle workspace and removes it from this host. A workspace that repeatedly proves impossible to save is given up: its
   * record then lists what is lost. Returns false when the workspace is used again, or when it is too early for another attempt.
   */
  async evict(held: HeldWorkspace, signal: AbortSignal): Promise<boolean> {
    const { now, log } = this.#ports;
    const { refusals, retryAtMs } = this.#stateOf(held);
    const isGivenUp = held.isUnsaved && refusals >= maxRefusals;
    if (held.isUnsaved && now() < retryAtMs) return false;
    if (isGivenUp)
      log.warn({ ...held.key, refusals }, "workspace was given up, because it cannot be saved");
    else await this.save(held, signal);
    if (held.users > 0 || (held.isUnsaved && !isGivenUp)) return false;
    const { tenant } = held.key;
    const { folder } = held.record;
    let isFree = false;
    await held.change((record) => {
      // Another host on this storage may use it.
      isFree = held.users === 0 && record.holder === this.#ports.host;
      isFree &&= isGivenUp || !held.isUnsaved;
      if (!isFree) return record;
      return isGivenUp ? withoutUnsaved(record, now()) : withoutPlace(record);
    }, signal);
    this.#onLost(held);
    if (isFree) await this.#ports.storage.remove(tenant, folder, signal);
    return isFree;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost ends", "AbortError"));
    await this.#inProgress.settled();
  }

  #saveScheduled(held: HeldWorkspace): void {
    this.save(held, this.#end.signal).catch((error: unknown) => {
      if (this.#end.signal.aborted) return;
      const { failures } = this.#stateOf(held);
      const { key } = held;
      this.#ports.log.warn(
        { err: error, ...key, failures },
        "workspace was not saved; trying again",
      );
      if (held.users === 0) this.scheduleSave(held);
    });
  }

  async #save(held: HeldWorkspace, state: SaveState, signal: AbortSignal): Promise<void> {
    using _ = await this.#slots.acquire(signal);
    const until = AbortSignal.any([signal, this.#end.signal]);
    try {
      if (!(await held.isHere(until))) return this.#onLost(held);
      // The snapshot might miss changes of a call in progress. The end of that call schedules another save.
      if (held.users > 0) return;
      const startedMs = performance.now();
      if (!(await saveWorkspace(held, this.#ports, until))) return this.#onLost(held);
      state.tookMs = performance.now() - startedMs;
      delete state.unsavedSinceMs;
      // Changes of another host on this storage are saved later, with growing delays instead of at once.
      state.failures = held.isUnsaved && !held.hasOwnUnsavedChanges ? state.failures + 1 : 0;
      state.refusals = 0;
    } catch (error) {
      state.failures++;
      if (isRefusal(error)) state.refusals++;
      state.retryAtMs = this.#ports.now() + delayAfter(state.failures, retryBackoff);
      throw error;
    }
    // Changes that were made meanwhile are saved next.
    if (held.users === 0) this.scheduleSave(held);
  }

  #stateOf(held: HeldWorkspace): SaveState {
    const known = this.#states.get(held);
    if (known !== undefined) return known;
    const state: SaveState = { failures: 0, refusals: 0, retryAtMs: 0 };
    this.#states.set(held, state);
    return state;
  }
}

/** Whether the workspace itself is the cause, and neither the store nor the host. */
function isRefusal(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.TOO_LARGE;
}
