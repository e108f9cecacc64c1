import { counter } from "@reeve/platform/telemetry/metrics";
import type { Attempt } from "./send/sender.ts";

const attempts = counter({
  name: "reeve_notification_attempts_total",
  help: "Attempts to deliver notifications, by receiver and outcome; `dead` counts the notifications that were given up.",
  labels: ["receiver", "outcome"],
});

/** Counts an attempt to deliver a notification, or that one was given up. */
export function countAttempt(receiver: string, outcome: Attempt["kind"] | "dead"): void {
  attempts.inc({ receiver, outcome });
}
