// Calls that a runtime hands over to the toolhost in its own process. The queue is left out; the journal of each call still decides
// who executes it, and the log of its run is what survives:
//
// L1. A call is handed over only by the owner of its run, whose log has it. So what is lost with the process is published again by
//     the next owner: one without a start because its journal is empty, one that had started because its start names no message.
//     (handed-over-calls.test.ts; the exploration: "a call in one process")
// L2. A call that is handed over is in one of four places until it is settled: it waits, it is held, it is being published to the
//     queue, or it is there. `holds` says so, and the owner publishes again what is in none of them. Another owner that requests a call
//     that is held gets its sequence. (local-calls.test.ts: "is held ...")
// L3. A call is handed over only to a slot that is free at that moment, and no call waits for a slot outside of a queue. So a call in
//     a queue gets a slot also while runs of this process call in a loop. While a request that this process published waits in the queue,
//     others follow it. (local-calls.test.ts: "goes to the queue, ...", "in a loop") Calls of MCP servers and providers also have slots of
//     their own, which no queue gives away, so nothing in a queue waits for them. (local-calls.test.ts: "a call of a server ...")
// L4. A toolhost that takes no more calls publishes those that it has not begun. (local-calls.test.ts: "is in the queue when ...")
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
import { callKeyOf } from "../journal/call-key.ts";
import type { CallDelivery, LocalSource } from "../ports/call-delivery.ts";
import type { Toolbox } from "../ports/tool.ts";
import { isSameCall } from "./slots.ts";

/** For how long a published request is on its way to this host. One that takes longer waits for a slot, and others follow it. */
const transitMs = 250;
/** For how long others follow it. It may have another taker. */
const maxQueuedMs = 10_000;
/**
 * Of how many calls that went to the queue their place there is known. The owners of others may publish them a second time, and others do
 * not follow them.
 */
const maxKnown = 10_000;

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
  /** Its slot. */
  readonly permit: Disposable;
}

interface LocalCallsOptions {
  /** The pool of the toolhost. */
  readonly pool: string;
  /** Additional slots for calls of tools that are executed elsewhere. Default: there are none. */
  readonly external?: ExternalSlots;
  readonly log: Pick<Logger, "warn">;
}

/** Slots for calls of MCP servers and providers: a toolhost only passes them on, so it has room for more of them than of its own. */
export interface ExternalSlots {
  readonly slots: Semaphore;
  readonly toolbox: Pick<Toolbox, "find">;
}

/** The way of calls from the runtime of this process to its toolhost. */
export class LocalCalls implements LocalSource {
  readonly #pool: string;
  readonly #external: ExternalSlots | undefined;
  readonly #log: Pick<Logger, "warn">;
  /** Calls that the toolhost has not begun, oldest first, with what ends their wait. */
  readonly #waiting = new Map<HandedOver, Disposable>();
  readonly #posted = new Wakeup();
  /** The requests that the toolhost has begun and not settled, by sequence. */
  readonly #held = new Map<number, ToolCallRequest>();
  readonly #publishing = new Map<number, Promise<void>>();
  /** The places in the queue of calls that went there after they were handed over, oldest first. */
  readonly #moved = new Map<number, number>();
  /** When this process published the messages that it has not taken, by sequence. */
  readonly #queued = new Map<number, number>();
  /** The last message of the queue that this host has taken. Messages are delivered in their order, sometimes before their publication returns. */
  #lastTaken = 0;
  /** The slots of the toolhost while it takes calls. */
  #capacity: Semaphore | undefined;
  #lastSequence = 0;

  constructor({ pool, external, log }: LocalCallsOptions) {
    this.#pool = pool;
    this.#external = external;
    this.#log = log;
  }

  /**
   * Returns the queue of a pool as the owners of runs in this process use it. A request that is handed over has a sequence below zero,
   * and is dropped when its signal aborts before the toolhost begins it. A request whose call is held here gets the sequence of that.
   */
  queueFor(pool: string, queue: CallQueue) {
    const publish = async (
      request: ToolCallRequest,
      options: RequestOptions,
      signal: AbortSignal,
    ) => {
      signal.throwIfAborted();
      const held = this.#sequenceOf(request);
      if (held !== undefined) return held;
      if (this.#capacity !== undefined) {
        const copy = copyOf(request);
        const permit = this.#permitFor(copy, this.#capacity);
        if (permit) return this.#handOver({ ...options, request: copy, queue, permit }, signal);
      }
      const sequence = await queue.publish(request, options, signal);
      this.#follow(sequence);
      return sequence;
    };
    const holds = async (sequence: number, signal: AbortSignal) =>
      sequence < 0
        ? this.#holds(sequence) || (await this.#holdsMoved(sequence, queue, signal))
        : await queue.holds(sequence, signal);
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
   * Yields the calls that are handed over, each with a permit. Ends when `signal` aborts, by throwing its reason; those that were not
   * yielded then go to the queue. `returnToQueue` publishes a call to the queue, without a delay.
   */
  async *take(capacity: Semaphore, signal: AbortSignal): AsyncIterable<CallDelivery> {
    this.#capacity = capacity;
    try {
      for (;;) {
        signal.throwIfAborted();
        const [next] = this.#waiting.keys();
        if (next === undefined) await this.#posted.wait(signal);
        else yield this.#delivery(next);
      }
    } finally {
      this.#capacity = undefined;
      for (const call of this.#waiting.keys()) {
        this.#publish(call);
        call.permit[Symbol.dispose]();
      }
    }
  }

  /** Resolves when the calls that go to the queue now are there, or could not be published. */
  async published(): Promise<void> {
    await Promise.all(this.#publishing.values());
  }

  /** Takes a slot for a call. Undefined: the call goes to the queue. */
  #permitFor({ call }: ToolCallRequest, capacity: Semaphore): Disposable | undefined {
    const { slots, toolbox } = this.#external ?? {};
    const { source = "builtin" } = toolbox?.find(call?.name ?? "")?.descriptor ?? {};
    const permit = source === "builtin" ? undefined : slots?.tryAcquire();
    return permit ?? (this.#isOpen(capacity) ? capacity.tryAcquire() : undefined);
  }

  /** Whether a slot is free, and no request that this process published waits in the queue for one. */
  #isOpen({ available }: Semaphore): boolean {
    if (available === 0 || this.#publishing.size > 0) return false;
    const [oldestMs] = this.#queued.values();
    if (oldestMs === undefined) return true;
    const waitedMs = performance.now() - oldestMs;
    if (waitedMs >= maxQueuedMs) this.#queued.clear();
    return waitedMs >= maxQueuedMs || waitedMs < transitMs;
  }

  #handOver(handed: Omit<HandedOver, "sequence">, signal: AbortSignal): number {
    const call: HandedOver = { ...handed, sequence: --this.#lastSequence };
    const dropped = onAbort(signal, () => {
      this.#endWait(call);
      call.permit[Symbol.dispose]();
    });
    this.#waiting.set(call, dropped);
    this.#posted.notify();
    return call.sequence;
  }

  #endWait(call: HandedOver): void {
    this.#waiting.get(call)?.[Symbol.dispose]();
    this.#waiting.delete(call);
  }

  #delivery(call: HandedOver): CallDelivery {
    const { request, sequence, isRunOpen, permit } = call;
    this.#endWait(call);
    this.#held.set(sequence, request);
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
        const place = await queue.publish(request, { dedupeId }, neverAborts);
        this.#follow(place);
        this.#move(sequence, place);
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
    if (sequence <= this.#lastTaken) return;
    this.#queued.set(sequence, performance.now());
    // Hosts of other processes may take all of them, of which this process does not learn.
    dropOldest(this.#queued);
  }

  #move(sequence: number, place: number): void {
    this.#moved.set(sequence, place);
    dropOldest(this.#moved);
  }

  async #holdsMoved(sequence: number, queue: CallQueue, signal: AbortSignal): Promise<boolean> {
    const place = this.#moved.get(sequence);
    if (place === undefined) return false;
    const isHeld = await queue.holds(place, signal);
    if (!isHeld) this.#moved.delete(sequence);
    return isHeld;
  }

  /** Returns the sequence of a call that is held here. */
  #sequenceOf(request: ToolCallRequest): number | undefined {
    const key = callKeyOf(request);
    const held = [...this.#held].find(([, other]) => isSameCall(callKeyOf(other), key));
    return held?.[0];
  }

  #holds(sequence: number): boolean {
    const isWaiting = [...this.#waiting.keys()].some((call) => call.sequence === sequence);
    return isWaiting || this.#held.has(sequence) || this.#publishing.has(sequence);
  }
}

function dropOldest(known: Map<number, number>): void {
  if (known.size <= maxKnown) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}

/** What a toolhost gets is never the state of a run, also in one process. */
function copyOf(request: ToolCallRequest): ToolCallRequest {
  const bytes = toBinary(ToolCallRequestSchema, request);
  return fromBinary(ToolCallRequestSchema, bytes, storedReadOptions);
}
