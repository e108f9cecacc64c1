import type { RunEvent } from "@reeve/contracts/run";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { applyAll } from "../domain/state/apply.ts";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope } from "../domain/state/fact.ts";
import { nextEffects, openWaits } from "../domain/next-effects.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunRelease } from "../ports/ownership.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import type { FoldedLog } from "./append-facts.ts";
import { appendFacts, failOversized } from "./append-facts.ts";
import { Mailbox } from "./mailbox.ts";
import { Outbox } from "./outbox.ts";
import { perform } from "../perform/perform.ts";
import type { EffectMessage } from "./running-effects.ts";
import { RunningEffects } from "./running-effects.ts";
import { FrameSpans } from "../tracing/frame-spans.ts";

/** When to stop: at once, or as soon as no answer of a model would be lost. */
export interface StopSignals {
  readonly now: AbortSignal;
  readonly drain: AbortSignal;
}

type News = EffectMessage | { readonly kind: "foreign"; readonly stretch: EventRange<RunEvent> };

/** A run that this worker has claimed: its state and the tail at which the claim stands. */
export interface ClaimedRun extends FoldedLog {
  readonly key: RunKey;
  readonly epoch: number;
  /** Whether nothing more is to follow from the state. */
  readonly isComplete: boolean;
}

/**
 * Drives a claimed run to the point where it rests: ended, waiting for somebody else, or taken by another worker. A worker
 * that dies on the way loses no more than what no log says yet.
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
  readonly #epoch: number;
  readonly #ports: RunPorts;
  readonly #outbox = new Outbox();
  readonly #mailbox = new Mailbox<News>();
  readonly #effects: RunningEffects;
  readonly #spans = new FrameSpans();
  readonly #end = new AbortController();
  readonly #soon: AbortSignal;
  #state: RunState;
  #tail: Tail;
  /** Whether facts may follow from the state that no append held: of facts from outside, or because they were too many. */
  #mayOwe: boolean;

  constructor(
    { key, epoch, state, tail, isComplete }: ClaimedRun,
    ports: RunPorts,
    soon: AbortSignal,
  ) {
    this.#soon = soon;
    this.#key = key;
    this.#epoch = epoch;
    this.#ports = ports;
    this.#state = state;
    this.#tail = tail;
    this.#mayOwe = !isComplete;
    this.#effects = new RunningEffects(
      (effect, signal) =>
        this.#spans.within(this.#state, effect, () => perform(this.#state, effect, ports, signal)),
      (news) => this.#mailbox.post(news),
    );
  }

  async drive(now: AbortSignal): Promise<RunRelease> {
    const soon = this.#soon;
    const bounded = AbortSignal.any([now, this.#end.signal]);
    void this.#followOthers(bounded);
    const wake = () => this.#mailbox.post({ kind: "ended", effectId: "" });
    soon.addEventListener("abort", wake, { once: true, signal: bounded });
    for (;;) {
      // An effect that ended while an append was under way left its facts here.
      this.#take(this.#mailbox.empty());
      if (this.#state.claim?.epoch !== this.#epoch) return { kind: "lost", state: this.#state };
      if (this.#state.end !== undefined) return { kind: "ended", state: this.#state };
      this.#spans.observe(this.#state);
      const wanted = nextEffects(this.#state);
      this.#outbox.keepOnly(new Set(wanted.map(({ id }) => id)));
      if (soon.aborted) this.#effects.drain(wanted);
      else this.#effects.reconcile(wanted);
      if (this.#mayOwe) await this.#append([], bounded);
      else if (!this.#outbox.isEmpty) await this.#flush(bounded);
      else if (soon.aborted && !this.#effects.isCallingModel) {
        return { kind: "released", state: this.#state };
      } else if (this.#effects.isIdle) {
        if (await this.#park(bounded)) return { kind: "parked", state: this.#state };
      } else this.#take(await this.#mailbox.collect(bounded));
    }
  }

  /** Appends what has gathered and all that follows from it. */
  async #flush(signal: AbortSignal): Promise<void> {
    const taken = this.#outbox.take();
    const stands = await this.#append(
      taken.flatMap(({ facts }) => facts),
      signal,
    );
    if (!stands) this.#outbox.putBack(taken);
  }

  async #park(signal: AbortSignal): Promise<boolean> {
    const waitingFor = [...openWaits(this.#state)];
    if (waitingFor.length === 0) {
      throw new Error(`run ${this.#key.run} has nothing to do and nothing to wait for`);
    }
    return await this.#append(
      [fact(rootScope, { case: "runParked", value: { waitingFor } })],
      signal,
    );
  }

  /** Whether the facts stand, with all that follows; without facts, what follows alone. Otherwise somebody else wrote first, and the state now has what they wrote. */
  async #append(facts: readonly Fact[], signal: AbortSignal): Promise<boolean> {
    const { log, clock } = this.#ports;
    // A call that begins now is not made, and would count as one that was lost with its worker.
    const extent = { stopsBeforeModelCalls: this.#soon.aborted };
    const before = { state: this.#state, tail: this.#tail, extent };
    const startedAt = clock.now();
    let written = await appendFacts(this.#key, before, facts, this.#ports, signal);
    if (written.kind === "oversized") {
      const end = failOversized(this.#state, facts);
      written = await appendFacts(this.#key, before, end, this.#ports, signal);
    }
    if (written.kind === "appended") {
      this.#state = written.state;
      this.#tail = written.tail;
      this.#mayOwe = !written.isComplete;
      return true;
    }
    this.#fold(await log.read(this.#key, this.#tail, signal));
    // Whoever won may have lost to us before: leave the way free for two round trips, so that it always gets in.
    await clock.sleep(2 * (clock.now() - startedAt), signal);
    return false;
  }

  #fold({ events, tail }: EventRange<RunEvent>): void {
    if (tail.sequence <= this.#tail.sequence) return;
    const unseen = events.filter(({ sequence }) => sequence > this.#state.sequence);
    this.#state = applyAll(this.#state, unseen);
    this.#tail = tail;
    this.#mayOwe = true;
  }

  #take(news: readonly News[]): void {
    for (const item of news) {
      switch (item.kind) {
        case "facts":
          this.#outbox.add(item.effectId, item.facts);
          break;
        case "foreign":
          this.#fold(item.stretch);
          break;
        case "broke":
          throw item.error;
        case "ended":
          break;
      }
    }
  }

  /** A fact from outside reaches the owner at once: by following the log, in which its own facts come back too. */
  async #followOthers(signal: AbortSignal): Promise<void> {
    const { log } = this.#ports;
    try {
      for await (const stretch of log.follow(this.#key, this.#tail, signal)) {
        if (stretch.tail.sequence > this.#tail.sequence) {
          this.#mailbox.post({ kind: "foreign", stretch });
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#mailbox.post({ kind: "broke", effectId: "follow", error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the run rests", "AbortError"));
    await this.#effects[Symbol.asyncDispose]();
    this.#spans[Symbol.dispose]();
  }
}
