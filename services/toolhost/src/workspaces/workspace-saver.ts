import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { withoutPlace, withoutUnsaved } from "./workspace-record.ts";
import type { HeldWorkspace } from "./held-workspace.ts";
import { saveWorkspace } from "./save-workspace.ts";
import { Limiter } from "@reeve/platform/async/limiter";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** How many are saved at a time: it costs processor time and bandwidth that calls need. */
const maxAtOnce = 2;
/** A workspace that never rests long is saved at its first short rest after this. */
const longestUnsavedMs = 30_000;
/** How long is waited after a workspace could not be saved; doubles each time. */
const firstRetryMs = 5_000;
const longestRetryMs = 300_000;
/** How often a workspace may prove to be one that cannot be saved before it is given up, once its run has ended. */
const maxRefusals = 8;

/** Saving may take this share of the time of a workspace. */
const share = 0.2;

interface Turn {
  timer?: NodeJS.Timeout;
  saving?: Promise<void>;
  failures: number;
  /** How many of them were due to what is in the workspace. */
  refusals: number;
  /** Before that it is not tried again, by the clock of the ports. */
  retryAtMs: number;
  /** How long the last time took. */
  tookMs?: number;
  /** Since when something is unsaved, by the clock of the process. */
  unsavedSince?: number;
}

/** Saves workspaces when they rest. */
export class WorkspaceSaver implements AsyncDisposable {
  readonly #ports: WorkspacePorts;
  readonly #onLost: (held: HeldWorkspace) => void;
  readonly #slots = new Limiter(maxAtOnce);
  readonly #turns = new WeakMap<HeldWorkspace, Turn>();
  readonly #end = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  /** `onLost` hears of workspaces that were found to be elsewhere, or nowhere. */
  constructor(ports: WorkspacePorts, onLost: (held: HeldWorkspace) => void) {
    this.#ports = ports;
    this.#onLost = onLost;
  }

  /** No call runs there any more: it is saved after a while, if there is something to save. */
  scheduleSave(held: HeldWorkspace): void {
    const turn = this.#turnOf(held);
    if (!held.isUnsaved || this.#end.signal.aborted) return;
    const { saveAfterMs } = this.#ports.limits;
    turn.unsavedSince ??= performance.now();
    const left = turn.unsavedSince + longestUnsavedMs - performance.now();
    const retryMs = turn.failures === 0 ? 0 : retryAfter(turn.failures);
    clearTimeout(turn.timer);
    const costMs = (turn.tookMs ?? 0) / share;
    const delayMs = Math.max(Math.min(Math.max(saveAfterMs, costMs), left), retryMs, 0);
    turn.timer = setTimeout(() => this.#due(held), delayMs).unref();
  }

  /** A call runs there again. What is being saved goes on. */
  cancelScheduled(held: HeldWorkspace): void {
    clearTimeout(this.#turnOf(held).timer);
  }

  /** Saves a workspace now, if that is owed. */
  async save(held: HeldWorkspace, signal: AbortSignal): Promise<void> {
    const turn = this.#turnOf(held);
    clearTimeout(turn.timer);
    while (turn.saving !== undefined) await turn.saving.catch(() => undefined);
    if (!held.isUnsaved) return;
    const saving = this.#save(held, turn, signal);
    turn.saving = saving;
    this.#underWay.add(saving);
    try {
      await saving;
    } finally {
      delete turn.saving;
      this.#underWay.delete(saving);
    }
  }

  /**
   * Saves a resting workspace and takes it away from this place. One that cannot be saved is given up in the end: its
   * record says what is lost. False: it is used again, or it is not yet time to try again.
   */
  async evict(held: HeldWorkspace, signal: AbortSignal): Promise<boolean> {
    const { now, log } = this.#ports;
    const { refusals, retryAtMs } = this.#turnOf(held);
    const isGivenUp = held.isUnsaved && refusals >= maxRefusals;
    if (held.isUnsaved && now() < retryAtMs) return false;
    if (isGivenUp) log.warn({ ...held.key, refusals }, "workspace given up: it cannot be saved");
    else await this.save(held, signal);
    if (held.users > 0 || (held.isUnsaved && !isGivenUp)) return false;
    const { tenant } = held.key;
    const { folder } = held.record;
    let isFree = false;
    await held.change((record) => {
      // A host that shares this place may use it.
      isFree = held.users === 0 && record.holder === this.#ports.host;
      isFree &&= isGivenUp || !held.isUnsaved;
      if (!isFree) return record;
      return isGivenUp ? withoutUnsaved(record, now()) : withoutPlace(record);
    }, signal);
    this.#onLost(held);
    if (isFree) await this.#ports.place.remove(tenant, folder, signal);
    return isFree;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost ends", "AbortError"));
    await Promise.allSettled(this.#underWay);
  }

  #due(held: HeldWorkspace): void {
    this.save(held, this.#end.signal).catch((error: unknown) => {
      if (this.#end.signal.aborted) return;
      const { failures } = this.#turnOf(held);
      const { key } = held;
      this.#ports.log.warn({ err: error, ...key, failures }, "workspace not saved; trying again");
      if (held.users === 0) this.scheduleSave(held);
    });
  }

  async #save(held: HeldWorkspace, turn: Turn, signal: AbortSignal): Promise<void> {
    using _ = await this.#slots.take(signal);
    const until = AbortSignal.any([signal, this.#end.signal]);
    try {
      if (!(await held.isHere(until))) return this.#onLost(held);
      // What runs now is not known to be in the snapshot; there is another rest after it.
      if (held.users > 0) return;
      const startedAt = performance.now();
      if (!(await saveWorkspace(held, this.#ports, until))) return this.#onLost(held);
      turn.tookMs = performance.now() - startedAt;
      delete turn.unsavedSince;
      // What another host at this place has running is saved in its time, and not looked for at every moment.
      turn.failures = held.isUnsaved && !held.hasOwnUnsavedChanges ? turn.failures + 1 : 0;
      turn.refusals = 0;
    } catch (error) {
      turn.failures++;
      if (isRefusal(error)) turn.refusals++;
      turn.retryAtMs = this.#ports.now() + retryAfter(turn.failures);
      throw error;
    }
    // What began meanwhile comes to its own rest.
    if (held.users === 0) this.scheduleSave(held);
  }

  #turnOf(held: HeldWorkspace): Turn {
    const known = this.#turns.get(held);
    if (known !== undefined) return known;
    const turn: Turn = { failures: 0, refusals: 0, retryAtMs: 0 };
    this.#turns.set(held, turn);
    return turn;
  }
}

/** Whether it was the workspace itself, and neither the store nor the host. */
function isRefusal(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.TOO_LARGE;
}

function retryAfter(failures: number): number {
  return Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
}
