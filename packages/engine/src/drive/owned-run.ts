/**
 * The loop of the owner of a run. Its invariants:
 *
 * O1. At most one append is in flight per run: only `drive` appends, and it awaits each append.
 *     Test: owned-run.test.ts, "has at most one append in flight"
 * O2. Every append names the tail up to which the state is folded. A lost append is never repeated as it was: the owner
 *     reads what it missed, folds it, and decides again.
 *     Test: decided-runs.test.ts, "continues the run when it arrives just before the park"
 * O3. After a lost append the owner waits for two round trips, but at most a second, before it appends again, so that an
 *     external writer always gets in. It gives up on a log that refuses every append without a reason.
 *     Test: owned-run.test.ts, "waits for two round trips after a lost append"
 *     Test: owned-run.test.ts, "waits no longer than a second after a lost append"
 *     Test: owned-run.test.ts, "gives up on a log that refuses every append and shows no other writer"
 * O4. Facts that an effect yields together are appended in one batch, or not at all.
 *     Test: oversized.test.ts, "the calls of a large turn are in the log with their turn, or not at all"
 * O5. The owner follows the log of its run. It appends nothing after it has folded a claim with another epoch.
 *     Test: drive-run.test.ts, "with the same message: the later claim wins, and the run ends once"
 * O6. The running effects are those that `nextEffects` returns for the current state. Others are aborted, and their facts
 *     that are not appended yet are discarded.
 *     Test: drive-run.test.ts, "a run that is cancelled during a tool call ends there, and its open calls are withdrawn"
 * O7. A run is parked only when no effect runs, no fact waits for its append, and only external facts can continue it. The
 *     park is an append like any other, so a fact that arrives just before it makes it fail.
 *     Test: decided-runs.test.ts, "continues the run when it arrives just before the park"
 * O8. A draining owner appends no new start of a call of a model or of a plugin's tool, performs each that is already in the
 *     log, and releases the run when no model is answering, and no plugin has a call or a hook in progress.
 *     Test: worker-hands-over.test.ts, "when its worker drains while it appends the model call, which is then made"
 *     Test: plugin-handover.test.ts, "when its worker drains while it appends the call of a plugin's tool, which is then made"
 * O9. An owner keeps no run that only waits for its providers for longer than `maxHeldWaitMs`: its message returns to the
 *     queue for the time of the wait, and so does the run if every worker dies meanwhile.
 *     Test: delayed-runs.test.ts, "goes back to the queue for the time of the wait, and another worker continues it then"
 * O10. In a full store the owner appends nothing but what the store still takes. It keeps the run, and what its effects yield, and
 *     tries again every few seconds, and at once when another writer was let in: a cancelled run ends.
 *     Test: full-store.test.ts, "waits with its text until there is room, and loses none of it"
 *     Test: full-store.test.ts, "ends at once when it is cancelled meanwhile"
 * O11. When `ownRun` returns, no effect of the run is running, and nothing follows its log.
 *     Test: waiting-runs.test.ts, "no worker holds runs that wait for a person, and decisions continue them"
 * O12. An owner that lacks what an effect needs, and that another worker may have, releases the run as if it drained. Claims
 *     without progress limit how often.
 *     Test: plugin-handover.test.ts, "gives the run back, and a worker that has it continues"
 */

import { setImmediate as endOfTurn } from "node:timers/promises";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import type { EventRange, LogListener, Tail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Mailbox } from "@reeve/platform/async/coordination/mailbox";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { onAbort } from "@reeve/platform/async/on-abort";
import { personDeadlineMs } from "../domain/client-calls/client-calls.ts";
import { applyAll } from "../domain/state/apply.ts";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope } from "../domain/state/fact.ts";
import type { Effect } from "../domain/next-effects.ts";
import { nextEffects, onlyProviderWaitMs, openWaits } from "../domain/next-effects.ts";
import { timerDueMs, withoutFarTimers } from "../domain/plugins/pending-timers.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { hasEnded } from "../domain/state/run-state.ts";
import type { RunRelease, StopSignals } from "../ports/ownership.ts";
import { HandOver } from "../ports/ownership.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import type { FoldedLog } from "./append-facts.ts";
import { appendFacts, failOversized } from "./append-facts.ts";
import { LostAppends } from "./lost-appends.ts";
import { Outbox } from "./outbox.ts";
import { perform } from "../perform/perform.ts";
import type { EffectMessage } from "./running-effects.ts";
import { RunningEffects } from "./running-effects.ts";
import { FrameSpans } from "../tracing/frame-spans.ts";

type OwnerMessage =
  | EffectMessage
  | { readonly kind: "log_grew"; readonly range: EventRange<RunEvent> }
  | { readonly kind: "log_unreadable"; readonly error: unknown }
  | { readonly kind: "draining" }
  /** An append is worth another attempt. */
  | { readonly kind: "room" };

/** The time between two attempts to append in a full store. */
const fullStoreMs = 5_000;
/** For how long an append counts as a proof that the run is open. */
const maxConfirmedMs = 1_000;

/** A run that this worker has claimed, folded up to the claim. */
export interface ClaimedRun extends FoldedLog {
  readonly key: RunKey;
  /** Receives the log since before the claim. The owner disposes it. */
  readonly listener: LogListener<RunEvent>;
  readonly epoch: number;
  /** Whether the log already holds all facts that follow from the state. */
  readonly isComplete: boolean;
  /** How much of the standstill of this process the log of the run covers. */
  readonly stoodStillMs: number;
}

/**
 * Drives a claimed run until it ends, waits for an external fact, belongs to another worker, or has to be released. If this
 * worker dies, only facts that are not in the log yet are lost.
 */
export async function ownRun(
  claimed: ClaimedRun,
  ports: RunPorts,
  stop: StopSignals,
): Promise<RunRelease> {
  await using owned = new OwnedRun(claimed, ports, stop.drain);
  return await owned.drive(stop.now);
}

class OwnedRun implements AsyncDisposable {
  readonly #key: RunKey;
  readonly #listener: LogListener<RunEvent>;
  readonly #epoch: number;
  readonly #ports: RunPorts;
  readonly #outbox = new Outbox();
  readonly #lostAppends: LostAppends;
  /** Without a limit, because a refused message would be a lost fact. The length of a model's answer bounds it in practice. */
  readonly #mailbox = new Mailbox<OwnerMessage>(Infinity);
  readonly #effects: RunningEffects;
  readonly #spans = new FrameSpans();
  readonly #end = new AbortController();
  readonly #drain: AbortSignal;
  /** Why another worker should continue the run. Undefined: there is no reason. */
  #handOver: HandOver | undefined;
  /** How much of the standstill of this process the log of the run covers. */
  #recordedStandstillMs: number;
  #state: RunState;
  #tail: Tail;
  /** When the last append was sent that succeeded: until then, the run was open, and belonged to this worker. */
  #confirmedMs = -Infinity;
  /**
   * Whether facts may follow from the state that the log does not hold: those that follow from external facts, and those
   * that did not fit into the last batch.
   */
  #mayDeriveFacts: boolean;

  constructor(
    { key, listener, epoch, state, tail, isComplete, stoodStillMs }: ClaimedRun,
    ports: RunPorts,
    drain: AbortSignal,
  ) {
    this.#drain = drain;
    this.#key = key;
    this.#listener = listener;
    this.#epoch = epoch;
    this.#ports = ports;
    this.#lostAppends = new LostAppends(key, ports);
    this.#recordedStandstillMs = stoodStillMs;
    this.#state = state;
    this.#tail = tail;
    this.#mayDeriveFacts = !isComplete;
    const isRunOpen = () => this.#isOpen;
    this.#effects = new RunningEffects(
      (effect, signal) =>
        this.#spans.within(this.#state, effect, () =>
          perform(() => this.#state, effect, { ...ports, isRunOpen }, signal),
        ),
      (message) => this.#mailbox.post(message),
    );
  }

  async drive(now: AbortSignal): Promise<RunRelease> {
    const drain = this.#drain;
    const signal = AbortSignal.any([now, this.#end.signal]);
    this.#listener.skip?.(this.#tail);
    void this.#followLog(signal);
    using listening = new DisposableStack();
    listening.use(this.#mailbox.bind(signal));
    listening.use(onAbort(drain, () => this.#mailbox.post({ kind: "draining" })));
    for (;;) {
      // Messages also arrive while an append is in flight.
      this.#receive(this.#mailbox.drain());
      if (this.#state.head.claim?.epoch !== this.#epoch)
        return { kind: "lost", state: this.#state };
      if (hasEnded(this.#state)) {
        // No worker needs their answers.
        this.#effects.reconcile([]);
        return { kind: "ended", state: this.#state };
      }
      this.#spans.observe(this.#state);
      const wanted = this.#wanted();
      this.#outbox.keepOnly(new Set(wanted.map(({ id }) => id)));
      const delayMs = this.#longWaitMs(wanted);
      if (delayMs !== undefined) return { kind: "delayed", state: this.#state, delayMs };
      // Facts that follow may change what plugins see.
      const due = this.#mayDeriveFacts ? this.#effects.withoutNew("run_hook", wanted) : wanted;
      if (this.#isDraining) this.#effects.drain(due);
      else this.#effects.reconcile(due);
      if (this.#mayDeriveFacts) await this.#append([], signal);
      else if (!this.#outbox.isEmpty) await this.#flush(signal);
      else if (this.#isDraining && !this.#effects.awaitsAnswers(this.#ports.clock.now())) {
        return this.#released();
      } else if (this.#effects.isIdle) {
        if (await this.#park(signal)) return { kind: "parked", state: this.#state };
      } else {
        this.#receive(await this.#mailbox.take(signal));
        // What arrived together is appended together: the rest of a piece of a model's answer is posted in this turn.
        await endOfTurn();
      }
    }
  }

  /** Whether the run was open, and belonged to this worker, a moment ago. */
  get #isOpen(): boolean {
    const { head } = this.#state;
    const isOwned = head.claim?.epoch === this.#epoch && !hasEnded(this.#state);
    return isOwned && bootClock.now() - this.#confirmedMs < maxConfirmedMs;
  }

  get #isDraining(): boolean {
    return this.#drain.aborted || this.#handOver !== undefined;
  }

  #released(): RunRelease {
    const delayMs = this.#handOver?.delayMs ?? 0;
    return this.#drain.aborted
      ? { kind: "released", state: this.#state }
      : { kind: "delayed", state: this.#state, delayMs };
  }

  /** Returns the effects to run now: a run that waits for people does not keep a worker for the timers of its plugins. */
  #wanted(): readonly Effect[] {
    const { clock, maxHeldWaitMs } = this.#ports;
    return withoutFarTimers(nextEffects(this.#state), clock.now() + maxHeldWaitMs);
  }

  /** Returns the time for which the run only waits for its providers, if that is too long to keep the run. */
  #longWaitMs(wanted: readonly Effect[]): number | undefined {
    if (this.#mayDeriveFacts || !this.#outbox.isEmpty) return undefined;
    const { clock, maxHeldWaitMs } = this.#ports;
    const waitMs = onlyProviderWaitMs(this.#state, wanted, clock.now());
    return waitMs !== undefined && waitMs > maxHeldWaitMs ? waitMs : undefined;
  }

  /** Appends the facts that wait, and everything that follows from them. */
  async #flush(signal: AbortSignal): Promise<void> {
    const taken = this.#outbox.take();
    const facts = taken.flatMap((pending) => pending.facts);
    if (!(await this.#append(facts, signal))) return this.#outbox.putBack(taken);
    if (!taken.some(({ appended }) => appended !== undefined)) return;
    // The same batch may have ended the run, or the subtask.
    const wanted = new Set(this.#wanted().map(({ id }) => id));
    for (const { effectId, appended } of taken) if (wanted.has(effectId)) appended?.();
  }

  async #park(signal: AbortSignal): Promise<boolean> {
    const waitingFor = [...openWaits(this.#state)];
    const times = [personDeadlineMs(this.#state), timerDueMs(this.#state)];
    const known = times.filter((time) => time !== undefined);
    const wakeAtMs = known.length === 0 ? undefined : Math.min(...known);
    if (waitingFor.length === 0 && wakeAtMs === undefined) {
      throw new Error(`run ${this.#key.run} has nothing to do and nothing to wait for`);
    }
    const wakeAt = wakeAtMs === undefined ? {} : { wakeAt: timestampFromMs(wakeAtMs) };
    const value = { waitingFor, ...wakeAt };
    return await this.#append([fact(rootScope, { case: "runParked", value })], signal);
  }

  /**
   * Appends `facts` and everything that follows from them; without facts, what follows from the state. Returns false when
   * another writer was first: the state then includes what that writer appended.
   */
  async #append(facts: readonly Fact[], signal: AbortSignal): Promise<boolean> {
    // A call of a model that is appended now would not be made, but charged as one that its worker lost. That of a plugin's tool would count as lost.
    const stoodStillMs = this.#ports.standstillMs();
    const standstillMs = stoodStillMs - this.#recordedStandstillMs;
    const limits = { stopsBeforeAnswers: this.#isDraining, standstillMs };
    const before = { state: this.#state, tail: this.#tail, limits };
    const pauseMs = this.#lostAppends.started();
    const sentMs = bootClock.now();
    let outcome = await appendFacts(this.#key, before, facts, this.#ports, signal);
    if (outcome.kind === "oversized") {
      const end = failOversized(this.#state, facts);
      outcome = await appendFacts(this.#key, before, end, this.#ports, signal);
    }
    if (outcome.kind === "full") {
      await this.#untilRoom(signal);
      return false;
    }
    if (outcome.kind === "appended") {
      if (outcome.tail.sequence > this.#tail.sequence) {
        this.#recordedStandstillMs = stoodStillMs;
        this.#confirmedMs = sentMs;
      }
      this.#state = outcome.state;
      this.#tail = outcome.tail;
      this.#listener.skip?.(this.#tail);
      this.#mayDeriveFacts = !outcome.isComplete;
      this.#lostAppends.succeeded();
      return true;
    }
    this.#fold(await this.#ports.log.read(this.#key, this.#tail, signal));
    const isExplained = this.#tail.sequence > before.tail.sequence;
    await this.#lostAppends.pause(pauseMs(), isExplained, signal);
    return false;
  }

  /**
   * Waits until an append is worth another attempt, and receives meanwhile: every part of a model's answer is a message, and must
   * not be an attempt.
   */
  async #untilRoom(signal: AbortSignal): Promise<void> {
    const { sequence } = this.#tail;
    const over = new AbortController();
    const pause = AbortSignal.any([signal, over.signal]);
    const end = () => void this.#mailbox.post({ kind: "room" });
    void this.#ports.clock.sleep(fullStoreMs, pause).then(end, () => undefined);
    try {
      for (;;) {
        const messages = await this.#mailbox.take(signal);
        this.#receive(messages);
        if (this.#tail.sequence > sequence || messages.some(({ kind }) => kind === "room")) return;
      }
    } finally {
      over.abort();
    }
  }

  #fold({ events, tail }: EventRange<RunEvent>): void {
    if (tail.sequence <= this.#tail.sequence) return;
    const unseen = events.filter(({ sequence }) => sequence > this.#state.head.lastSequence);
    this.#state = applyAll(this.#state, unseen);
    this.#tail = tail;
    this.#mayDeriveFacts = true;
  }

  #receive(messages: readonly OwnerMessage[]): void {
    for (const message of messages) {
      switch (message.kind) {
        case "facts":
          this.#outbox.add(message.effectId, message.facts, message.appended);
          break;
        case "log_grew":
          this.#fold(message.range);
          break;
        case "failed":
          if (!(message.error instanceof HandOver)) throw message.error;
          this.#handOver ??= message.error;
          break;
        case "log_unreadable":
          throw message.error;
        case "ended":
        case "draining":
        case "room":
          break;
      }
    }
  }

  /** Follows the log, which also yields the owner's own facts, so that external facts arrive at once. */
  async #followLog(signal: AbortSignal): Promise<void> {
    try {
      for await (const range of this.#listener.follow(this.#tail, signal)) {
        if (range.tail.sequence > this.#tail.sequence) {
          this.#mailbox.post({ kind: "log_grew", range });
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#mailbox.post({ kind: "log_unreadable", error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(runReleased);
    this.#listener[Symbol.dispose]();
    await this.#effects[Symbol.asyncDispose]();
    this.#spans[Symbol.dispose]();
    this.#mailbox[Symbol.dispose]();
  }
}

/** Shared by all owners, each of which ends so: creating an exception with its stack is a noticeable part of a short run. */
const runReleased = new DOMException("the owner released the run", "AbortError");
