import type { Dispatch } from "@reeve/contracts/run";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { RunPorts } from "../ports/run-ports.ts";
import type { StopSignals } from "./owned-run.ts";
import { driveRun } from "./drive-run.ts";

/**
 * Drives runs from the queue, at most `concurrency` at a time, until `stop.soon` aborts; then listens to the models that
 * are speaking, gives back its runs as they come to a point where nothing is lost, all of them when `stop.now` aborts, and
 * resolves.
 */
export async function workRuns(
  dispatch: Pick<WorkQueue<Dispatch>, "take">,
  ports: RunPorts,
  concurrency: number,
  stop: StopSignals,
): Promise<void> {
  // A message is delivered again to ourselves when this process was paused for long: the run is still ours.
  const driven = new Map<number, Promise<void>>();
  try {
    for await (const delivery of dispatch.take(concurrency, stop.drain)) {
      const { sequence } = delivery;
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
