import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadBatchSchema } from "@reeve/contracts/thread";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { ToolCallJournalSchema } from "@reeve/contracts/tool";
import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { batchTooLarge, defaultMaxDataBytes } from "../streams/payload-limit.ts";
import type { CallKey } from "./call-journal.ts";
import { callJournalDefinition, runLogDefinition, threadLogDefinition } from "./definitions.ts";
import type { AppendOutcome, EventRange, Log, Tail, TailReader } from "./port.ts";
import type { RunKey } from "./run-log.ts";
import type { ThreadKey } from "./thread-log.ts";

interface StoredLog<Event> {
  readonly events: Event[];
  readonly changed: Notifier;
  appends: number;
  /** The sequence after which the last batch starts. */
  lastBatchAfter: number;
}

/** The events of one append. */
interface MemoryBatch<Key, Event> {
  readonly key: Key;
  readonly events: readonly Event[];
}

/** Logs in memory, for runs without a server and for tests. They end with the process. */
export class MemoryLog<Key, Event> implements Log<Key, Event>, TailReader<Key, Event> {
  /** All batches of all logs, in the order of their appends. */
  readonly batches: MemoryBatch<Key, Event>[] = [];
  /** Notifies of every append to any log. */
  readonly appended = new Notifier();
  readonly #nameOf: (key: Key) => string;
  readonly #sizeOf: (events: readonly Event[]) => number;
  readonly #logs = new Map<string, StoredLog<Event>>();

  /** Rejects batches that a server with default settings would reject, by their size in bytes from `sizeOf`. */
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
    log.lastBatchAfter = log.events.length;
    log.events.push(...events);
    log.appends++;
    this.batches.push({ key, events: [...events] });
    log.changed.notify();
    this.appended.notify();
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
    const { lastBatchAfter: sequence } = this.#log(key);
    return this.read(key, { sequence, revision: 0 }, signal);
  }

  async *follow(
    key: Key,
    after: number | Tail,
    signal: AbortSignal,
  ): AsyncIterable<EventRange<Event>> {
    using changed = this.#log(key).changed.subscribe();
    let cursor: Tail = typeof after === "number" ? { sequence: after, revision: 0 } : after;
    for (;;) {
      const missed = await this.read(key, cursor, signal);
      if (missed.tail.sequence > cursor.sequence) {
        cursor = missed.tail;
        yield missed;
      } else await changed.wait(signal);
    }
  }

  #log(key: Key): StoredLog<Event> {
    const name = this.#nameOf(key);
    const known = this.#logs.get(name);
    if (known !== undefined) return known;
    const log = { events: [], changed: new Notifier(), appends: 0, lastBatchAfter: 0 };
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
