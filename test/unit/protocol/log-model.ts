import type { AppendOutcome, Log, EventRange, Tail } from "@reeve/jetstream/log/port";
import { tailAt } from "@reeve/jetstream/log/port";
import type { MemoryLog } from "@reeve/jetstream/log/memory";
import type { Actor, Scheduler } from "./scheduler.ts";

/** By how many appends a replica lags at most. */
const maxLag = 3;

interface Parts<Key, Event> {
  readonly inner: MemoryLog<Key, Event>;
  readonly nameOf: (key: Key) => string;
  readonly kindOf: (event: Event) => string;
  /** Receives each append that succeeded, before any actor does. */
  readonly onAppended: (actor: Actor, key: Key, events: readonly Event[]) => void;
  /** Whether followers receive a fact immediately. */
  readonly isPrompt: boolean;
  /** Replaces the append of a broken protocol; absent: the correct append. */
  readonly append?: Log<Key, Event>["append"] | undefined;
}

/** Logs in which each act of an actor waits for its turn. */
export class LogModel<Key, Event> {
  readonly inner: MemoryLog<Key, Event>;
  readonly #parts: Parts<Key, Event>;
  readonly #scheduler: Scheduler;
  /** The content of each log in short form, with its last writer and the tail before that append. */
  readonly #logs = new Map<string, { text: string; length: number; last: Actor; since: number }>();

  constructor(scheduler: Scheduler, parts: Parts<Key, Event>) {
    this.#scheduler = scheduler;
    this.#parts = parts;
    this.inner = parts.inner;
  }

  /** Identifies the state: two sets of logs of the same name are equal. */
  get name(): string {
    return [...this.#logs].map(([log, { text }]) => `${log}:${text}`).join("\n");
  }

  of(actor: Actor): Log<Key, Event> {
    const { inner, nameOf, kindOf } = this.#parts;
    const append = (key: Key, tail: Tail, events: readonly Event[], signal: AbortSignal) =>
      this.#scheduler.act<AppendOutcome>({
        actor,
        label: `writes ${nameOf(key)} ${tail.sequence + 1}: ${events.map(kindOf).join(" ")}`,
        kind: "write",
        happen: () => this.#append(actor, key, tail, events, signal),
        outcomeOf: ({ kind }) => kind,
      });
    const read = (key: Key, tail: Tail, signal: AbortSignal) =>
      this.#scheduler.act({
        actor,
        label: `reads ${nameOf(key)} after ${tail.sequence}`,
        kind: "look",
        happen: () => inner.read(key, tail, signal),
        late: () => this.#late(key, tail, signal),
        outcomeOf: (stretch) => String(stretch.tail.sequence),
      });
    const follow = (key: Key, after: number | Tail, signal: AbortSignal) =>
      this.#follow(actor, key, after, signal);
    return { append, read, follow };
  }

  /** Returns reads that lack the last append, the last two, and so on. */
  #late(key: Key, after: Tail, signal: AbortSignal): readonly (() => Promise<EventRange<Event>>)[] {
    const { inner, nameOf } = this.#parts;
    const name = nameOf(key);
    const appends = inner.batches.filter((batch) => nameOf(batch.key) === name);
    const lags = Array.from({ length: Math.min(maxLag, appends.length) }, (_, index) => index + 1);
    const missing = lags.map((lag) =>
      appends.slice(-lag).reduce((sum, { events }) => sum + events.length, 0),
    );
    const length = this.#logs.get(name)?.length ?? 0;
    const isPossible = (lag: number) => length - (missing[lag - 1] ?? 0) >= after.sequence;
    return lags.filter(isPossible).map((lag) => async () => {
      const { events, batchTails } = await inner.read(key, after, signal);
      const seen = batchTails.slice(0, -lag);
      const known = events.slice(0, -(missing[lag - 1] ?? 0));
      return { events: known, tail: seen.at(-1) ?? after, batchTails: seen };
    });
  }

  async #append(
    actor: Actor,
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome> {
    const { inner, nameOf, kindOf, onAppended, append } = this.#parts;
    const outcome = await (append?.(key, tail, events, signal) ??
      inner.append(key, tail, events, signal));
    if (outcome.kind === "conflict") return outcome;
    const name = nameOf(key);
    const before = this.#logs.get(name);
    const text = `${before?.text ?? ""} ${actor.name}>${events.map(kindOf).join(" ")}`;
    const since = before?.last === actor ? before.since : tail.sequence;
    this.#logs.set(name, { text, length: outcome.tail.sequence, last: actor, since });
    // A broken protocol may have written a different event.
    onAppended(actor, key, inner.batches.at(-1)?.events ?? []);
    return outcome;
  }

  async *#follow(
    actor: Actor,
    key: Key,
    after: number | Tail,
    signal: AbortSignal,
  ): AsyncIterable<EventRange<Event>> {
    const name = this.#parts.nameOf(key);
    for (let tail = typeof after === "number" ? tailAt(after) : after; ;) {
      const known = tail;
      const stretch = await this.#scheduler.act({
        actor,
        label: `follows ${name} after ${known.sequence}`,
        kind: "look",
        signal,
        isPossible: () => (this.#logs.get(name)?.length ?? 0) > known.sequence,
        // A writer learns nothing from its own facts.
        isTrivial: () => {
          const log = this.#logs.get(name);
          if (log === undefined || log.length <= known.sequence) return false;
          return this.#parts.isPrompt || (log.last === actor && log.since <= known.sequence);
        },
        happen: () => this.#parts.inner.read(key, known, signal),
        outcomeOf: (heard) => String(heard.tail.sequence),
      });
      ({ tail } = stretch);
      yield stretch;
    }
  }
}
