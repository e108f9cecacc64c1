import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { defaultAckWaitMs } from "@reeve/platform/process/settings";

/**
 * A queue of work of which each message goes to one of many takers. A message stays in the queue until it is acknowledged. When
 * its taker stays silent, the message is delivered again, without limit.
 */
export interface WorkQueue<Message> {
  /**
   * Publishes `message`, which is durable when this returns. Drops a repetition with the same `dedupeId` within the window of
   * the stream. Returns the sequence of the message in its stream; for a repetition, that of the first one.
   */
  publish(
    message: Message,
    options: { readonly dedupeId: string },
    signal: AbortSignal,
  ): Promise<number>;

  /**
   * Says that `message` may be published soon, so that the publication need not wait for what it has to ask the store. Absent: it asks
   * nothing.
   */
  prepare?(message: Message): void;

  /**
   * Returns whether the message with this sequence is in the queue: neither acknowledged nor removed. Never false for a message
   * whose publication returned before the call.
   */
  holds(sequence: number, signal: AbortSignal): Promise<boolean>;

  /**
   * Yields deliveries, of which at most as many are unsettled at a time as there are permits, over all queues that share the
   * semaphore. Ends when `signal` aborts, by throwing its reason. Unsettled deliveries then stay with their taker until it
   * settles them.
   */
  take(permits: number | Semaphore, signal: AbortSignal): AsyncIterable<Delivery<Message>>;
}

/**
 * Returns how often a taker extends its messages, in milliseconds, so that a taker that stands still for less than seven tenths
 * of the ack-wait keeps them. Never depends on a long ack-wait alone: another taker may start with the default ack-wait, which
 * then applies to the queue at once.
 */
export function extendIntervalMs(ackWaitMs: number): number {
  return Math.min(ackWaitMs, defaultAckWaitMs) / 5;
}

/**
 * A message held by a taker, which settles it exactly once: with `acknowledge`, `returnToQueue`, or `abandon`. When the taker
 * was silent for so long that the message may have been delivered to another one, none of the methods has an effect on the
 * message.
 */
export interface Delivery<Message> {
  readonly message: Message;
  /** The sequence of the message in its stream. It identifies the message, and is the same for every redelivery. */
  readonly sequence: number;
  /** How many times the message was delivered, including this time. */
  readonly attempt: number;
  /** W3C trace context of the publication. Absent or empty when that was not traced. */
  readonly traceparent?: string;
  /** Reports that the taker is alive. Call it more often than the queue's `ackWaitMs`. */
  extend(): void;
  acknowledge(): void;
  /** Makes the message available to other takers after `delayMs`. */
  returnToQueue(delayMs: number): void;
  /** Releases the permit without a word to the queue: the message belongs to another taker now. */
  abandon(): void;
}
