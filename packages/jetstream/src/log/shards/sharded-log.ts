import type { DescMessage } from "@bufbuild/protobuf";
import { shardOf } from "@reeve/contracts/shard-of";
import type { LogDefinition } from "../definitions.ts";
import type {
  AppendOutcome,
  BatchReader,
  EventRange,
  Log,
  LogListener,
  LogPart,
  LogRemover,
  PartReader,
  RawBatch,
  SettledLog,
  Tail,
  TailReader,
} from "../port.ts";

/** Logs, with everything that a store can do with them. */
export type LogStore<Key, Event> = Log<Key, Event> &
  Required<Pick<Log<Key, Event>, "listen" | "readHeld">> &
  TailReader<Key, Event> &
  PartReader<Key, Event> &
  BatchReader<Key> &
  LogRemover<Key> &
  SettledLog<Key>;

/** Logs that are spread over several stores, the shards. Each log is in one of them as a whole. */
export class ShardedLog<Key, Event> implements LogStore<Key, Event> {
  readonly #tokens: LogDefinition<Key, Event, DescMessage>["tokens"];
  readonly #shards: readonly LogStore<Key, Event>[];

  constructor(
    { tokens }: Pick<LogDefinition<Key, Event, DescMessage>, "tokens">,
    shards: readonly LogStore<Key, Event>[],
  ) {
    this.#tokens = tokens;
    this.#shards = shards;
  }

  get isReplicated(): boolean {
    return this.#shards.some(({ isReplicated }) => isReplicated);
  }

  append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome> {
    return this.#of(key).append(key, tail, events, signal);
  }

  read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>> {
    return this.#of(key).read(key, tail, signal);
  }

  readHeld(key: Key, signal: AbortSignal): Promise<EventRange<Event> | undefined> {
    return this.#of(key).readHeld(key, signal);
  }

  readPart(key: Key, tail: Tail, maxBytes: number, signal: AbortSignal): Promise<LogPart<Event>> {
    return this.#of(key).readPart(key, tail, maxBytes, signal);
  }

  last(key: Key, signal: AbortSignal): Promise<EventRange<Event>> {
    return this.#of(key).last(key, signal);
  }

  readBatches(key: Key, signal: AbortSignal): AsyncIterable<RawBatch> {
    return this.#of(key).readBatches(key, signal);
  }

  follow(key: Key, after: number | Tail, signal: AbortSignal): AsyncIterable<EventRange<Event>> {
    return this.#of(key).follow(key, after, signal);
  }

  listen(key: Key): LogListener<Event> {
    return this.#of(key).listen(key);
  }

  async settle(signal: AbortSignal, key?: Key): Promise<void> {
    const asked = key === undefined ? this.#shards : [this.#of(key)];
    await Promise.all(asked.map((shard) => shard.settle(signal)));
  }

  remove(key: Key, signal: AbortSignal): Promise<void> {
    return this.#of(key).remove(key, signal);
  }

  removeThrough(key: Key, revision: number, signal: AbortSignal): Promise<void> {
    return this.#of(key).removeThrough(key, revision, signal);
  }

  #of(key: Key): LogStore<Key, Event> {
    const shard = this.#shards[shardOf(this.#tokens(key), this.#shards.length)];
    if (shard === undefined) throw new RangeError("the log has no shards");
    return shard;
  }
}
