import { delayAfter } from "@reeve/platform/async/retry/backoff";
import type { FailedAttempt } from "./send/sender.ts";

/** How long a notification is tried. */
export interface DeliveryLimits {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The time from which on a notification is given up. */
  readonly giveUpMs: number;
  /** How many times in a row a receiver may refuse a notification: it probably always will. */
  readonly maxRefusals: number;
}

/** What is known of a notification after a failed attempt. */
export interface DeliveryHistory {
  /** How many times it was delivered to a sender, by any process. */
  readonly attempt: number;
  /** How long it has been queued. */
  readonly ageMs: number;
  /** How many times in a row this process saw its receiver refuse it. */
  readonly refusals: number;
}

/** Returns the delay after an attempt, whatever became of it. */
export function backoffAfter(
  attempt: number,
  { firstDelayMs, maxDelayMs }: Pick<DeliveryLimits, "firstDelayMs" | "maxDelayMs">,
  random: () => number = Math.random,
): number {
  return delayAfter(attempt, { firstDelayMs, maxDelayMs, jitter: 0.5 }, random);
}

/** Returns after how long to try again, or undefined to give up. */
export function delayBeforeRetry(
  { retryAfterMs = 0 }: FailedAttempt,
  { attempt, ageMs, refusals }: DeliveryHistory,
  { giveUpMs, maxRefusals, ...backoff }: DeliveryLimits,
  random: () => number = Math.random,
): number | undefined {
  if (ageMs >= giveUpMs || refusals >= maxRefusals) return undefined;
  const delayMs = backoffAfter(attempt, backoff, random);
  // A receiver may ask for more patience, not for an endless wait.
  return Math.max(delayMs, Math.min(retryAfterMs, backoff.maxDelayMs));
}
