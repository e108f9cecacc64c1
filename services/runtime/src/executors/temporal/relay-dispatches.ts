import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery, WorkQueue } from "@reeve/jetstream/queue/port";
import { every } from "@reeve/platform/async/every";
import type { BackoffOptions } from "@reeve/platform/async/retry/backoff";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { TaskSet } from "@reeve/platform/async/task-set";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { RunDispatch } from "./contract.ts";

/** How many dispatches are sent at a time. */
const maxConcurrent = 50;
/** The delay before a dispatch is sent again that Temporal did not take. Runs wait for that time after an outage. */
const defaultRedelivery = { firstDelayMs: 500, maxDelayMs: 5_000, jitter: 0.5 };

export interface DispatchRelay {
  readonly queue: Pick<WorkQueue<Dispatch>, "take">;
  /** Interval at which a dispatch is extended that is being sent. */
  readonly heartbeatMs: number;
  /** Default: half a second to five seconds. */
  readonly redelivery?: BackoffOptions;
  readonly log: Logger;
  /** Gives a dispatch to the workflow of its run, which it starts if there is none. Durable when it returns. */
  send(run: Pick<Dispatch, "tenant" | "runId">, dispatch: RunDispatch): Promise<void>;
}

/**
 * Gives the dispatches of the queue to Temporal, until `signal` aborts. A message leaves the queue when Temporal has it, so each leads
 * to a signal, however often this process, NATS, or Temporal fail; a signal may come twice.
 */
export async function relayDispatches(
  { queue, heartbeatMs, log, send, redelivery = defaultRedelivery }: DispatchRelay,
  signal: AbortSignal,
): Promise<void> {
  const sending = new TaskSet();
  let isReachable = true;
  const relay = async (delivery: Delivery<Dispatch>) => {
    using _ = every(heartbeatMs, () => delivery.extend());
    const { message, sequence, attempt, traceparent = "" } = delivery;
    const { afterSequence } = message;
    try {
      await send(message, { sequence, afterSequence, traceparent });
      delivery.acknowledge();
      isReachable = true;
    } catch (error) {
      delivery.returnToQueue(delayAfter(attempt, redelivery));
      // One line for an outage, not one for each run.
      if (isReachable) log.warn({ err: error }, "Temporal does not take runs; they wait");
      isReachable = false;
    }
  };
  try {
    for await (const delivery of queue.take(maxConcurrent, signal)) {
      void sending.add(relay(delivery));
    }
  } finally {
    await sending.settled();
  }
}
