import type { Capacity } from "./capacity.ts";

/**
 * Work that one of many takes. A message stays in the queue until it is acknowledged; one whose taker falls silent is
 * delivered again, without a limit.
 */
export interface WorkQueue<Message> {
  /**
   * Puts `message` into the queue. Durable when it returns. A repetition with the same `dedupeId` within the stream's
   * window is dropped. Returns the place of the message in its stream; of a repetition, that of the first.
   */
  publish(
    message: Message,
    options: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number>;

  /** Whether the message at this place is in the queue: neither acknowledged nor removed. */
  holds(sequence: number, signal: AbortSignal): Promise<boolean>;

  /**
   * Deliveries, as capacity allows: at most as many as there are `places` are unsettled at a time, over all queues that
   * are taken from with the same places. Ends when `signal` aborts, by throwing its reason; what is unsettled then goes on
   * until its taker settles it.
   */
  take(places: number | Capacity, signal: AbortSignal): AsyncIterable<Delivery<Message>>;
}

/**
 * How often a taker says that it is alive. However patient its queue is: another taker may be started with the usual
 * patience, and gives it to the queue at once.
 */
export function extendIntervalMs(ackWaitMs: number): number {
  return Math.min(ackWaitMs, defaultAckWaitMs) / 3;
}

/** The patience of a queue of which nobody says anything else. */
const defaultAckWaitMs = 1_000;

/** A message in the hands of a taker, who settles it exactly once: `acknowledge`, `giveBack` or `forget`. */
export interface Delivery<Message> {
  readonly message: Message;
  /** Place of the message in its stream: tells this message from any other, the same at every redelivery. */
  readonly sequence: number;
  /** How often it has been delivered, this time included. */
  readonly attempt: number;
  /** W3C trace context of its publication. Absent or empty: that was not traced. */
  readonly traceparent?: string;
  /** Says that the taker is alive; call it more often than every `ackWaitMs` of the queue. */
  extend(): void;
  acknowledge(): void;
  /** Offers the message to others, after `delayMs`. */
  returnToQueue(delayMs: number): void;
  /** Says nothing to the queue and frees the place: the message belongs to somebody else now. */
  abandon(): void;
}
