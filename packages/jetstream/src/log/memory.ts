import type { DescMessage } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import { batchDigest, digestBytes } from "@reeve/contracts/digest/batch-digest";
import { channelOf } from "@reeve/contracts/channel";
import type { RunEvent } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { batchTooLarge, defaultMaxDataBytes } from "../streams/payload-limit.ts";
import type { CallKey } from "./call-journal.ts";
import type { LogDefinition } from "./definitions.ts";
import { callJournalDefinition, runLogDefinition, threadLogDefinition } from "./definitions.ts";
import type {
  AppendOutcome,
  BatchReader,
  EventRange,
  Log,
  LogPart,
  PartReader,
  LogRemover,
  RawBatch,
  SettledLog,
  Tail,
  TailReader,
} from "./port.ts";
import { emptyTail, maxFollowedBytes, tailAt } from "./port.ts";
import type { RunKey } from "./run-log.ts";
import type { ThreadKey } from "./thread-log.ts";

interface StoredLog<Event> {
  readonly events: Event[];
  readonly changed: Notifier;
  /** The tail after each batch. */
  readonly tails: Tail[];
  isRemoved: boolean;
}

/** The events of one append. */
interface MemoryBatch<Key, Event> {
  readonly key: Key;
  readonly events: readonly Event[];
}

/** Logs in memory, for runs without a server and for tests. They end with the process. */
export class MemoryLog<Key, Event>
  implements
    Log<Key, Event>,
    TailReader<Key, Event>,
    PartReader<Key, Event>,
    BatchReader<Key>,
    LogRemover<Key>,
    SettledLog
{
  /** All batches of all logs, in the order of their appends. */
  readonly batches: MemoryBatch<Key, Event>[] = [];
  /** Notifies of every append to any log. */
  readonly appended = new Notifier();
  readonly isReplicated = false;
  readonly #format: BatchFormat<Key, Event>;
  readonly #logs = new Map<string, StoredLog<Event>>();
  /** The revision of the last batch of all logs. */
  #revision = 0;

  /** Rejects batches that a server with default settings would reject. */
  constructor(format: BatchFormat<Key, Event>) {
    this.#format = format;
  }

  async append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome> {
    signal.throwIfAborted();
    await Promise.resolve();
    const subject = this.#format.subjectOf(key);
    const payload = this.#format.payloadOf(tail, events);
    if (payload.length > defaultMaxDataBytes) {
      throw batchTooLarge(subject, payload.length, defaultMaxDataBytes);
    }
    const log = this.#log(key);
    if ((log.tails.at(-1) ?? emptyTail).revision !== tail.revision) return { kind: "conflict" };
    log.events.push(...events);
    const after: Tail = {
      sequence: log.events.length,
      revision: ++this.#revision,
      digest: batchDigest(subject, payload),
    };
    log.tails.push(after);
    this.batches.push({ key, events: [...events] });
    log.changed.notify();
    this.appended.notify();
    return { kind: "appended", tail: after };
  }

  async read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>> {
    signal.throwIfAborted();
    await Promise.resolve();
    const { events, tails } = this.#log(key);
    const end = tails.at(-1) ?? emptyTail;
    const first = tails.findLastIndex(({ sequence }) => sequence <= tail.sequence) + 1;
    return { events: events.slice(tail.sequence), tail: end, batchTails: tails.slice(first) };
  }

  async readPart(
    key: Key,
    after: Tail,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<LogPart<Event>> {
    const { events, tail, batchTails } = await this.read(key, after, signal);
    let [before, bytes, batches] = [after, 0, 0];
    for (const next of batchTails) {
      if (bytes >= maxBytes) break;
      const batch = events.slice(before.sequence - after.sequence, next.sequence - after.sequence);
      bytes += this.#format.payloadOf(before, batch).length;
      batches += 1;
      before = next;
    }
    return {
      events: events.slice(0, before.sequence - after.sequence),
      tail: batches === batchTails.length ? tail : before,
      batchTails: batchTails.slice(0, batches),
      isComplete: batches === batchTails.length,
    };
  }

  last(key: Key, signal: AbortSignal): Promise<EventRange<Event>> {
    return this.read(key, this.#log(key).tails.at(-2) ?? emptyTail, signal);
  }

  async *readBatches(key: Key, signal: AbortSignal): AsyncIterable<RawBatch> {
    const { events, tails } = this.#log(key);
    let before = emptyTail;
    for (const tail of tails.slice()) {
      signal.throwIfAborted();
      const appended = events.slice(before.sequence, tail.sequence);
      yield {
        revision: tail.revision,
        first: before.sequence + 1,
        last: tail.sequence,
        kinds: this.#format.kindsOf(appended),
        digest: tail.digest,
        data: this.#format.payloadOf(before, appended),
      };
      before = tail;
    }
  }

  async *follow(
    key: Key,
    after: number | Tail,
    signal: AbortSignal,
  ): AsyncIterable<EventRange<Event>> {
    const log = this.#log(key);
    using changed = log.changed.subscribe();
    let cursor = typeof after === "number" ? tailAt(after) : after;
    while (!log.isRemoved) {
      const { isComplete: _, ...missed } = await this.readPart(
        key,
        cursor,
        maxFollowedBytes,
        signal,
      );
      if (missed.tail.sequence > cursor.sequence) {
        cursor = missed.tail;
        yield missed;
      } else await changed.wait(signal);
    }
  }

  async settle(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.resolve();
  }

  async remove(key: Key, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.resolve();
    const name = this.#format.subjectOf(key);
    const log = this.#logs.get(name);
    if (log === undefined) return;
    this.#logs.delete(name);
    const others = this.batches.filter((batch) => this.#format.subjectOf(batch.key) !== name);
    this.batches.splice(0, this.batches.length, ...others);
    log.isRemoved = true;
    log.changed.notify();
  }

  async removeThrough(key: Key, revision: number, signal: AbortSignal): Promise<void> {
    const { tails } = this.#log(key);
    if ((tails[0]?.revision ?? 0) <= revision) await this.remove(key, signal);
  }

  #log(key: Key): StoredLog<Event> {
    const name = this.#format.subjectOf(key);
    const known = this.#logs.get(name);
    if (known !== undefined) return known;
    const log = { events: [], changed: new Notifier(), tails: [], isRemoved: false };
    this.#logs.set(name, log);
    return log;
  }
}

/** How a batch of a kind of log is stored. */
interface BatchFormat<Key, Event> {
  subjectOf(key: Key): string;
  /** Returns the payload of a batch that follows `tail`. */
  payloadOf(tail: Tail, events: readonly Event[]): Uint8Array;
  kindsOf(events: readonly Event[]): readonly string[];
}

export function memoryRunLog(): MemoryLog<RunKey, RunEvent> {
  return new MemoryLog(formatOf(runLogDefinition));
}

export function memoryThreadLog(): MemoryLog<ThreadKey, ThreadEvent> {
  return new MemoryLog(formatOf(threadLogDefinition));
}

export function memoryCallJournal(): MemoryLog<CallKey, ToolCallFact> {
  return new MemoryLog(formatOf(callJournalDefinition));
}

function formatOf<Key, Event, Schema extends DescMessage>({
  schema,
  tokens,
  batch,
  kinds,
}: LogDefinition<Key, Event, Schema>): BatchFormat<Key, Event> {
  const channel = channelOf(schema);
  return {
    subjectOf: (key) => channel.subject(tokens(key)),
    payloadOf: ({ sequence, digest }, events) =>
      toBinary(schema, batch(sequence + 1, events, digestBytes(digest))),
    kindsOf: kinds,
  };
}
