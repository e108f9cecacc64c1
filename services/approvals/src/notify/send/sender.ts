import type { Notification } from "@reeve/contracts/notification";

/** An attempt that did not deliver: the receiver was unavailable, or it refused the message. */
export interface FailedAttempt {
  readonly kind: "unavailable" | "refused";
  /** Says what went wrong, without secrets. */
  readonly problem: string;
  /** How long the receiver asked to wait. */
  readonly retryAfterMs?: number;
}

export type Attempt = { readonly kind: "delivered" } | FailedAttempt;

/** Delivers notifications to one receiver. */
export interface Sender {
  /** Makes one attempt. Rejects with the signal's reason when the signal aborts. */
  send(notification: Notification, signal: AbortSignal): Promise<Attempt>;
}
