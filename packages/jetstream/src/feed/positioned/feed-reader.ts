import type { NatsConnection } from "@nats-io/transport-node";
import { steadyClock } from "@reeve/platform/async/clock";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { orderedMessages } from "../../streams/ordered-messages.ts";
import type { FeedBatch } from "../port.ts";
import type { IntakeOptions } from "./batch-intake.ts";
import { BatchIntake } from "./batch-intake.ts";
import type { DueRetry } from "./progress.ts";
import { ReadProgress } from "./progress.ts";
import type { ReadStream } from "./resume.ts";
import { checkedPosition, startPosition } from "./resume.ts";
import type { ReadPosition, ReceivedMessage, StoredPosition } from "./stored-position.ts";

/** The interval between two writes of the position. */
const storeMs = 1_000;
/** The maximum time after which a batch that cannot be read is read again. */
const maxRetryDelayMs = 120_000;
/** With so many single batches that wait, those that follow them wait, too. */
const maxWaiting = 10_000;

export interface FeedReaderOptions<Key, Event> extends IntakeOptions<Key, Event> {
  readonly connection: NatsConnection;
  readonly stream: ReadStream;
  readonly position: StoredPosition;
  /** The name of the feed, and of the durable consumer with which it is read where processes share their work. */
  readonly name: string;
  /** How long a batch may take to be acknowledged before it is yielded again. */
  readonly ackWaitMs: number;
  readonly maxPulled: number;
  /** How long a pull waits for batches. */
  readonly pullMs: number;
}

/** What a reader has, once it knows where to read. */
interface Reading<Key, Event> {
  /** Identifies the stream. */
  readonly instance: string;
  readonly progress: ReadProgress;
  readonly intake: BatchIntake<Key, Event>;
}

const over = new DOMException("the reader has ended", "AbortError");

/** Reads the batches of a stream in order, and those again that could not be processed. Stores how far it was read. */
export class FeedReader<Key, Event> {
  readonly #options: FeedReaderOptions<Key, Event>;
  #reading: Reading<Key, Event> | undefined;
  #received: ReceivedMessage | undefined;
  #storedAtMs = -Infinity;
  /** The write of the position that is in progress. */
  #storing: Promise<void> | undefined;
  /** Whether the stream has lost what was read, and the stored position does not say so yet. */
  #isReset = false;

  constructor(options: FeedReaderOptions<Key, Event>) {
    this.#options = options;
  }

  /**
   * Yields the batches after the position of the feed. Ends when the store is lost or full; the next call continues. Throws the signal's
   * reason, and what no store that answers again would repair.
   */
  async *read(signal: AbortSignal): AsyncIterable<FeedBatch<Key, Event>> {
    try {
      yield* this.#batches(await this.#resume(signal), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
    }
  }

  /** Stores the position that was reached, unless it is stored. */
  async storePosition(signal: AbortSignal): Promise<void> {
    await this.#storing;
    await this.#store(signal);
  }

  async #store(signal: AbortSignal): Promise<void> {
    if (this.#reading?.intake.isChanged !== true) return;
    const { intake } = this.#reading;
    const position = positionOf(this.#reading, this.#received);
    this.#storedAtMs = steadyClock.now();
    intake.isChanged = false;
    try {
      await this.#options.position.store(position, { replaces: this.#isReset }, signal);
      this.#isReset = false;
    } catch (error) {
      intake.isChanged = true;
      throw error;
    }
  }

  async #resume(signal: AbortSignal): Promise<Reading<Key, Event>> {
    const { stream, position, name, ackWaitMs } = this.#options;
    const reading = this.#reading;
    const before =
      reading === undefined
        ? await startPosition(stream, name, await position.read(signal))
        : positionOf(reading, this.#received);
    const checked = await checkedPosition(stream, before, signal);
    if (checked === before && reading !== undefined) return reading;
    if (checked !== before) this.#isReset = true;
    const delays = { firstDelayMs: ackWaitMs, maxDelayMs: Math.max(ackWaitMs, maxRetryDelayMs) };
    const progress = new ReadProgress(checked.state, delays);
    const intake = new BatchIntake(this.#options, progress);
    this.#received = checked.received;
    return (this.#reading = { instance: checked.instance, progress, intake });
  }

  async *#batches(
    { instance, progress, intake }: Reading<Key, Event>,
    signal: AbortSignal,
  ): AsyncIterable<FeedBatch<Key, Event>> {
    const { connection, stream, maxPulled, pullMs } = this.#options;
    const end = new AbortController();
    const read = {
      stream: stream.name,
      after: { instance, sequence: progress.reached },
      maxPulled,
      pullMs,
      maxTogether: { messages: maxPulled, bytes: Infinity },
    };
    const until = AbortSignal.any([signal, end.signal]);
    const groups = orderedMessages(connection, read, until)[Symbol.asyncIterator]();
    let next: ReturnType<typeof groups.next> | undefined;
    let isRetryNext = false;
    try {
      for (;;) {
        this.#storeWhenDue(intake, signal);
        // Neither keeps the other waiting: new batches, and those that are due again.
        const due: DueRetry | undefined = isRetryNext ? progress.due(steadyClock.now()) : undefined;
        isRetryNext = due === undefined;
        if (due !== undefined) {
          const batch = await intake.retry(due, signal);
          if (batch !== undefined) yield batch;
        } else if (next === undefined && progress.waitingMessages >= maxWaiting) {
          // Acknowledgements make room.
          await sleep(Math.min(storeMs, progress.quietMs(steadyClock.now())), signal);
        } else {
          next ??= groups.next();
          if (!(await settledWithin(next, this.#quietMs(progress, intake), signal))) continue;
          const { done, value } = await next;
          next = undefined;
          if (done === true) return;
          for (const message of value.messages) {
            const batch = await intake.take(message, signal);
            this.#received = { sequence: message.seq, storedAtMs: message.time.getTime() };
            if (batch !== undefined) yield batch;
          }
        }
      }
    } finally {
      end.abort(over);
      next?.catch(() => undefined);
      await groups.return?.();
    }
  }

  /** Returns for how long there is nothing to do but to wait for a new batch. */
  #quietMs(progress: ReadProgress, intake: BatchIntake<Key, Event>): number {
    const now = steadyClock.now();
    const dueInMs = this.#storing === undefined ? this.#storedAtMs + storeMs - now : storeMs;
    return Math.min(intake.isChanged ? Math.max(0, dueInMs) : Infinity, progress.quietMs(now));
  }

  /** Begins to store the position if that is due. Batches do not wait for it. */
  #storeWhenDue(intake: BatchIntake<Key, Event>, signal: AbortSignal): void {
    const isDue = intake.isChanged && steadyClock.now() >= this.#storedAtMs + storeMs;
    if (!isDue || this.#storing !== undefined) return;
    // A store that is full, or away, is asked again later.
    this.#storing = this.#store(signal)
      .catch(() => undefined)
      .finally(() => (this.#storing = undefined));
  }
}

/** Whether the store did not answer, or has no room: it is asked again. */
function isPassing(error: unknown): boolean {
  return error instanceof Failure && (error.kind === "unavailable" || error.kind === "exhausted");
}

function positionOf<Key, Event>(
  { instance, progress }: Reading<Key, Event>,
  received: ReceivedMessage | undefined,
): ReadPosition {
  return { instance, state: progress.state(), received };
}
