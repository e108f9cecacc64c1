import type { Dispatch } from "@reeve/contracts/run";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { StopSignals } from "../ports/ownership.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { driveRun } from "./drive-run.ts";

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
  const driven = new Map<number, Promise<void>>();
  try {
    for await (const delivery of dispatch.take(concurrency, stop.drain)) {
      const { sequence } = delivery;
      // The queue redelivers a message whose holder was paused for long. Here the holder is this worker, which continues.
      if (driven.has(sequence)) {
        delivery.abandon();
        continue;
      }
      const driving = driveRun(delivery, ports, stop).finally(() => {
        driven.delete(sequence);
        ports.reportActiveRuns?.(driven.size);
      });
      driven.set(sequence, driving);
      ports.reportActiveRuns?.(driven.size);
    }
  } catch (error) {
    if (!stop.drain.aborted) throw error;
  } finally {
    await Promise.allSettled(driven.values());
  }
}
