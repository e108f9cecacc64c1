import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadBatchSchema } from "@reeve/contracts/thread";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { ToolCallJournalSchema } from "@reeve/contracts/tool";
import { Audience } from "@reeve/platform/async/audience";
import type { CallKey } from "./call-journal.ts";
import { callJournalDefinition, runLogDefinition, threadLogDefinition } from "./definitions.ts";
import type { AppendOutcome, Log, TailReader, EventRange, Tail } from "./port.ts";
import { batchTooLarge, defaultMaxDataBytes } from "../streams/payload-limit.ts";
import type { RunKey } from "./run-log.ts";
import type { ThreadKey } from "./thread-log.ts";

interface Stored<Event> {
  readonly events: Event[];
  readonly changed: Audience;
  appends: number;
  /** The sequence after which the last batch comes. */
  lastAfter: number;
}

/** What was appended in one act. */
export interface MemoryBatch<Key, Event> {
  readonly key: Key;
  readonly events: readonly Event[];
}

/** Logs in memory, for runs without a server and for tests. Gone with the process. */
export class MemoryLog<Key, Event> implements Log<Key, Event>, TailReader<Key, Event> {
  /** All batches of all logs, in the order of their appends. */
  readonly batches: MemoryBatch<Key, Event>[] = [];
  /** Hears of every append. */
  readonly appended = new Audience();
  readonly #nameOf: (key: Key) => string;
  readonly #logs = new Map<string, Stored<Event>>();

  readonly #sizeOf: (events: readonly Event[]) => number;

  /** Batches whose size by `sizeOf` is over that of a server in its usual settings are refused, as by the server. */
  constructor(nameOf: (key: Key) => string, sizeOf: (events: readonly Event[]) => number) {
    this.#nameOf = nameOf;
    this.#sizeOf = sizeOf;
  }

  async append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome> {
    signal.throwIfAborted();
    await Promise.resolve();
    const bytes = this.#sizeOf(events);
    if (bytes > defaultMaxDataBytes) {
      throw batchTooLarge(this.#nameOf(key), bytes, defaultMaxDataBytes);
    }
    const log = this.#log(key);
    if (log.appends !== tail.revision) return { kind: "conflict" };
    log.lastAfter = log.events.length;
    log.events.push(...events);
    log.appends++;
    this.batches.push({ key, events: [...events] });
    log.changed.say();
    this.appended.say();
    return { kind: "appended", tail: { sequence: log.events.length, revision: log.appends } };
  }

  async read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>> {
    signal.throwIfAborted();
    await Promise.resolve();
    const { events, appends } = this.#log(key);
    return {
      events: events.slice(tail.sequence),
      tail: { sequence: events.length, revision: appends },
    };
  }

  last(key: Key, signal: AbortSignal): Promise<EventRange<Event>> {
    const { lastAfter: sequence } = this.#log(key);
    return this.read(key, { sequence, revision: 0 }, signal);
  }

  async *follow(
    key: Key,
    after: number | Tail,
    signal: AbortSignal,
  ): AsyncIterable<EventRange<Event>> {
    const { changed: audience } = this.#log(key);
    const changed = audience.join();
    let cursor: Tail = typeof after === "number" ? { sequence: after, revision: 0 } : after;
    try {
      for (;;) {
        const missed = await this.read(key, cursor, signal);
        if (missed.tail.sequence > cursor.sequence) {
          cursor = missed.tail;
          yield missed;
        } else await changed.wait(undefined, signal);
      }
    } finally {
      audience.leave(changed);
    }
  }

  #log(key: Key): Stored<Event> {
    const name = this.#nameOf(key);
    const known = this.#logs.get(name);
    if (known !== undefined) return known;
    const log = { events: [], changed: new Audience(), appends: 0, lastAfter: 0 };
    this.#logs.set(name, log);
    return log;
  }
}

export function memoryRunLog(): MemoryLog<RunKey, RunEvent> {
  return new MemoryLog(
    ({ tenant, run }) => `${tenant}.${run}`,
    (events) => toBinary(RunBatchSchema, runLogDefinition.batch(1, events)).length,
  );
}

export function memoryThreadLog(): MemoryLog<ThreadKey, ThreadEvent> {
  return new MemoryLog(
    ({ tenant, thread }) => `${tenant}.${thread}`,
    (events) => toBinary(ThreadBatchSchema, threadLogDefinition.batch(1, events)).length,
  );
}

export function memoryCallJournal(): MemoryLog<CallKey, ToolCallFact> {
  return new MemoryLog(
    ({ tenant, run, call }) => `${tenant}.${run}.${call}`,
    (facts) => toBinary(ToolCallJournalSchema, callJournalDefinition.batch(1, facts)).length,
  );
}
