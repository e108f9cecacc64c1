import { counter } from "@reeve/platform/telemetry/metrics";

const redeliveries = counter({
  name: "reeve_redeliveries_total",
  help: "Deliveries of messages that had been delivered before, by the kind of queue.",
  labels: ["queue"],
});
for (const queue of ["dispatch", "tool", "notify"]) redeliveries.inc({ queue }, 0);

/** Counts a delivery that is not the first of its message. */
export function countDelivery(subject: string, attempt: number): void {
  // The first token of a subject is the kind of its queue. The others are names, too many for a label.
  if (attempt > 1) redeliveries.inc({ queue: subject.split(".", 1)[0] ?? "" });
}
