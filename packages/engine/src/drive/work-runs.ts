import type { Dispatch } from "@reeve/contracts/run";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import { RenewableDelivery } from "@reeve/jetstream/queue/renewable-delivery";
import type { StopSignals } from "../ports/ownership.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { driveRun } from "./drive-run.ts";

interface Driven {
  readonly delivery: RenewableDelivery<Dispatch>;
  readonly driving: Promise<void>;
}

/**
 * Drives runs from the queue, at most `concurrency` at a time, until `stop.drain` aborts. Then takes no more runs, and
 * resolves when it has released all of them: each when no model is answering it, or all when `stop.now` aborts.
 */
export async function workRuns(
  dispatch: Pick<WorkQueue<Dispatch>, "take">,
  ports: RunPorts,
  concurrency: number,
  stop: StopSignals,
): Promise<void> {
  const driven = new Map<number, Driven>();
  const list = () => [...driven.values()].map(({ delivery }) => delivery.message);
  const report = () => ports.reportActiveRuns?.(driven.size, list);
  try {
    for await (const delivery of dispatch.take(concurrency, stop.drain)) {
      const { sequence } = delivery;
      // The queue redelivers a message whose holder was paused for long. Here the holder is this worker, which continues.
      const known = driven.get(sequence);
      if (known !== undefined) {
        known.delivery.renew(delivery);
        continue;
      }
      const renewable = new RenewableDelivery(delivery);
      const driving = driveRun(renewable, ports, stop).finally(() => {
        driven.delete(sequence);
        report();
      });
      driven.set(sequence, { delivery: renewable, driving });
      report();
    }
  } catch (error) {
    if (!stop.drain.aborted) throw error;
  } finally {
    await Promise.allSettled([...driven.values()].map(({ driving }) => driving));
  }
}
