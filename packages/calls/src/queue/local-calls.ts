// Calls that a runtime hands over to the toolhost in its own process. The queue is left out; the journal of each call still decides
// who executes it, and the log of its run is what survives:
//
// L1. A call is handed over only by the owner of its run, whose log has it. So what is lost with the process is published again by
//     the next owner: one without a start because its journal is empty, one that had started because its start names no message.
//     (handed-over-calls.test.ts; the exploration: "a call in one process")
// L2. A call that is handed over is in one of three places until it is settled: it waits, it is held, or it is being published to the
//     queue. `holds` says so, and the owner publishes again what is in none of them. (local-calls.test.ts)
// L3. Nothing overtakes the queue for long: while a request that this process published waits there for a slot, others follow it, and a
//     call that finds no free slot for a second goes there. (local-calls.test.ts: "follow it")
// L4. A toolhost that takes no more calls publishes those that wait. (local-calls.test.ts: "is in the queue when ...")
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { onAbort } from "@reeve/platform/async/on-abort";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { CallDelivery, LocalSource } from "../ports/call-delivery.ts";

/** For how long a call waits for a free slot before it goes to the queue. */
const defaultMaxWaitMs = 1_000;
/** For how long a published request is on its way to this host. One that takes longer waits for a slot, and others follow it. */
const transitMs = 250;
/** For how long others follow it. It may have another taker. */
const maxQueuedMs = 10_000;
/** How many calls may wait for a slot. Others go to the queue. */
const maxWaiting = 1_000;

type CallQueue = Pick<WorkQueue<ToolCallRequest>, "publish" | "holds">;

/** What the owner of a run says about a call when it requests its execution. */
export interface RequestOptions {
  readonly dedupeId: string;
  /** Whether the owner knows that the run is open at this moment. Default: it does not. */
  readonly isRunOpen?: () => boolean;
}

interface HandedOver extends RequestOptions {
  readonly request: ToolCallRequest;
  /** Below zero: it is in no stream. */
  readonly sequence: number;
  readonly queue: CallQueue;
}

interface LocalCallsOptions {
  /** The pool of the toolhost. */
  readonly pool: string;
  readonly log: Pick<Logger, "warn">;
  /** For how long a call waits for a free slot before it goes to the queue. Default: one second. */
  readonly maxWaitMs?: number;
}

/** The way of calls from the runtime of this process to its toolhost. */
export class LocalCalls implements LocalSource {
  readonly #pool: string;
  readonly #log: Pick<Logger, "warn">;
  readonly #maxWaitMs: number;
  /** Calls without a slot, oldest first, with what ends their wait. */
  readonly #waiting = new Map<HandedOver, Disposable>();
  readonly #posted = new Wakeup();
  readonly #held = new Set<number>();
  readonly #publishing = new Map<number, Promise<void>>();
  /** When this process published the messages that it has not taken, by sequence. */
  readonly #queued = new Map<number, number>();
  /** The last message of the queue that this host has taken. Messages are delivered in their order, sometimes before their publication returns. */
  #lastTaken = 0;
  /** The slots of the toolhost while it takes calls. */
  #capacity: Semaphore | undefined;
  #lastSequence = 0;

  constructor({ pool, log, maxWaitMs = defaultMaxWaitMs }: LocalCallsOptions) {
    this.#pool = pool;
    this.#log = log;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Returns the queue of a pool as the owners of runs in this process use it. A request that is handed over has a sequence below zero,
   * and is dropped when its signal aborts before it has a slot.
   */
  queueFor(pool: string, queue: CallQueue) {
    const publish = async (
      request: ToolCallRequest,
      options: RequestOptions,
      signal: AbortSignal,
    ) => {
      signal.throwIfAborted();
      if (this.#isOpen())
        return this.#handOver({ ...options, request: copyOf(request), queue }, signal);
      const sequence = await queue.publish(request, options, signal);
      this.#follow(sequence);
      return sequence;
    };
    const holds = async (sequence: number, signal: AbortSignal) =>
      sequence < 0 ? this.#holds(sequence) : await queue.holds(sequence, signal);
    return pool === this.#pool ? { publish, holds } : queue;
  }

  /** Notes that this host has taken a message of the queue. */
  taken(sequence: number): void {
    this.#lastTaken = Math.max(this.#lastTaken, sequence);
    for (const earlier of this.#queued.keys()) {
      if (earlier <= sequence) this.#queued.delete(earlier);
    }
  }

  /**
   * Yields the calls that are handed over, each with a permit. Ends when `signal` aborts, by throwing its reason; those without a permit
   * then go to the queue. `returnToQueue` publishes a call to the queue, without a delay.
   */
  async *take(capacity: Semaphore, signal: AbortSignal): AsyncIterable<CallDelivery> {
    this.#capacity = capacity;
    try {
      for (;;) {
        while (this.#waiting.size === 0) await this.#posted.wait(signal);
        const permit = await capacity.acquire(signal);
        const [next] = this.#waiting.keys();
        // It may have waited for too long meanwhile.
        if (next === undefined) permit[Symbol.dispose]();
        else yield this.#delivery(next, permit);
      }
    } finally {
      this.#capacity = undefined;
      for (const call of this.#waiting.keys()) this.#publish(call);
    }
  }

  /** Resolves when the calls that go to the queue now are there, or could not be published. */
  async published(): Promise<void> {
    await Promise.all(this.#publishing.values());
  }

  #isOpen(): boolean {
    if (this.#capacity === undefined || this.#waiting.size >= maxWaiting) return false;
    if (this.#publishing.size > 0) return false;
    const [oldestMs] = this.#queued.values();
    if (oldestMs === undefined) return true;
    const waitedMs = performance.now() - oldestMs;
    if (waitedMs >= maxQueuedMs) this.#queued.clear();
    return waitedMs >= maxQueuedMs || (waitedMs < transitMs && this.#capacity.available > 0);
  }

  #handOver(handed: Omit<HandedOver, "sequence">, signal: AbortSignal): number {
    const call: HandedOver = { ...handed, sequence: --this.#lastSequence };
    const timer = setTimeout(() => this.#publish(call), this.#maxWaitMs);
    const dropped = onAbort(signal, () => this.#endWait(call));
    const end = () => {
      clearTimeout(timer);
      dropped[Symbol.dispose]();
    };
    this.#waiting.set(call, { [Symbol.dispose]: end });
    this.#posted.notify();
    return call.sequence;
  }

  #endWait(call: HandedOver): void {
    this.#waiting.get(call)?.[Symbol.dispose]();
    this.#waiting.delete(call);
  }

  #delivery(call: HandedOver, permit: Disposable): CallDelivery {
    const { request, sequence, isRunOpen } = call;
    this.#endWait(call);
    this.#held.add(sequence);
    const settle = () => {
      this.#held.delete(sequence);
      permit[Symbol.dispose]();
    };
    return {
      message: request,
      sequence,
      attempt: 1,
      ...(isRunOpen && { isRunOpen }),
      extend: () => undefined,
      acknowledge: settle,
      returnToQueue: () => {
        this.#publish(call);
        settle();
      },
      abandon: settle,
    };
  }

  #publish(call: HandedOver): void {
    this.#endWait(call);
    const { request, dedupeId, queue, sequence } = call;
    const publish = async () => {
      try {
        this.#follow(await queue.publish(request, { dedupeId }, neverAborts));
      } catch (error) {
        const problem =
          "the request of a call is not in its queue; the owner of the run publishes it";
        this.#log.warn({ err: error, callId: request.call?.callId }, problem);
      } finally {
        this.#publishing.delete(sequence);
      }
    };
    this.#publishing.set(sequence, publish());
  }

  #follow(sequence: number): void {
    if (sequence > this.#lastTaken) this.#queued.set(sequence, performance.now());
  }

  #holds(sequence: number): boolean {
    const isWaiting = [...this.#waiting.keys()].some((call) => call.sequence === sequence);
    return isWaiting || this.#held.has(sequence) || this.#publishing.has(sequence);
  }
}

/** What a toolhost gets is never the state of a run, also in one process. */
function copyOf(request: ToolCallRequest): ToolCallRequest {
  const bytes = toBinary(ToolCallRequestSchema, request);
  return fromBinary(ToolCallRequestSchema, bytes, storedReadOptions);
}
