import type { Dispatch } from "@reeve/contracts/run";
import type { WorkQueue } from "@reeve/log/work-queue";
import type { RunPorts } from "../ports/run-ports.ts";
import type { Stop } from "./owned-run.ts";
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
  stop: Stop,
): Promise<void> {
  const driven = new Set<Promise<void>>();
  try {
    for await (const delivery of dispatch.take(concurrency, stop.soon)) {
      const driving = driveRun(delivery, ports, stop).finally(() => driven.delete(driving));
      driven.add(driving);
    }
  } catch (error) {
    if (!stop.soon.aborted) throw error;
  } finally {
    await Promise.allSettled(driven);
  }
}
