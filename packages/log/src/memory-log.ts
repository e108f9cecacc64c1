import type { ToolCallFact } from "@reeve/contracts/tool";
import type { RunEvent } from "@reeve/contracts/run";
import type { CallKey } from "./call-journal.ts";
import type { Appended, Log, Stretch, Tail } from "./log.ts";
import type { RunKey } from "./run-log.ts";
import { Signalled } from "./signalled.ts";

/** Logs in memory, for runs without a server and for tests. Gone with the process. */
export class MemoryLog<Key, Event> implements Log<Key, Event> {
  readonly #nameOf: (key: Key) => string;
  readonly #logs = new Map<string, { events: Event[]; appends: number }>();
  readonly #followers = new Map<string, Set<Signalled>>();

  constructor(nameOf: (key: Key) => string) {
    this.#nameOf = nameOf;
  }

  async append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<Appended> {
    signal.throwIfAborted();
    await Promise.resolve();
    const name = this.#nameOf(key);
    const log = this.#logs.get(name) ?? { events: [], appends: 0 };
    if (log.appends !== tail.revision) return { kind: "conflict" };
    log.events.push(...events);
    log.appends++;
    this.#logs.set(name, log);
    for (const follower of this.#followers.get(name) ?? []) follower.say();
    return { kind: "appended", tail: { sequence: log.events.length, revision: log.appends } };
  }

  async read(key: Key, tail: Tail, signal: AbortSignal): Promise<Stretch<Event>> {
    signal.throwIfAborted();
    await Promise.resolve();
    const { events, appends } = this.#logs.get(this.#nameOf(key)) ?? { events: [], appends: 0 };
    return {
      events: events.slice(tail.sequence),
      tail: { sequence: events.length, revision: appends },
    };
  }

  async *follow(
    key: Key,
    afterSequence: number,
    signal: AbortSignal,
  ): AsyncIterable<Stretch<Event>> {
    const name = this.#nameOf(key);
    const followers = this.#followers.get(name) ?? new Set();
    const changed = new Signalled();
    this.#followers.set(name, followers.add(changed));
    let cursor: Tail = { sequence: afterSequence, revision: 0 };
    try {
      for (;;) {
        const missed = await this.read(key, cursor, signal);
        if (missed.tail.sequence > cursor.sequence) {
          cursor = missed.tail;
          yield missed;
        } else await changed.wait(undefined, signal);
      }
    } finally {
      followers.delete(changed);
    }
  }
}

export function memoryRunLog(): MemoryLog<RunKey, RunEvent> {
  return new MemoryLog(({ tenant, run }) => `${tenant}.${run}`);
}

export function memoryCallJournal(): MemoryLog<CallKey, ToolCallFact> {
  return new MemoryLog(({ tenant, run, call }) => `${tenant}.${run}.${call}`);
}
