import type { JsMsg } from "@nats-io/jetstream";
import { traceparentHeader } from "@reeve/platform/telemetry/spans";
import type { DeliveryLease } from "./delivery-lease.ts";
import type { Delivery } from "./port.ts";

/** What a taker holds until it settles a delivery. Disposed when it does. */
export interface DeliveryHold extends Disposable {
  readonly lease: DeliveryLease;
}

/** A message that a consumer delivered. */
export type DeliveredMessage = Pick<JsMsg, "headers" | "ack" | "nak"> & {
  readonly info: Pick<JsMsg["info"], "streamSequence" | "deliveryCount">;
};

/**
 * Returns the delivery of a message. Once its lease has lapsed, the message may have another taker: the delivery then settles
 * without a word to the queue, which delivers the message again.
 */
export function natsDelivery<Message>(
  message: DeliveredMessage,
  content: Message,
  hold: DeliveryHold,
): Delivery<Message> {
  const { lease } = hold;
  const settle = (send?: () => void) => {
    if (lease.isHeld) send?.();
    hold[Symbol.dispose]();
  };
  return {
    message: content,
    sequence: message.info.streamSequence,
    attempt: message.info.deliveryCount,
    traceparent: message.headers?.get(traceparentHeader) ?? "",
    extend: () => lease.extend(),
    acknowledge: () => settle(() => message.ack()),
    returnToQueue: (delayMs) => settle(() => message.nak(delayMs)),
    abandon: () => settle(),
  };
}

/** Returns the subject to which the server listens for acknowledgements of a delivery. */
export function ackSubjectOf(message: JsMsg): string {
  // The class of the client has it, its interface does not.
  if ("reply" in message && typeof message.reply === "string") return message.reply;
  throw new Error(
    `message ${message.seq} of ${message.subject} names no subject for its settlement`,
  );
}
