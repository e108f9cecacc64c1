import type { Dispatch } from "@reeve/contracts/run";
import type { WorkQueue } from "@reeve/log/work-queue";
import type { RunPorts } from "../ports/run-ports.ts";
import { driveRun } from "./drive-run.ts";

/**
 * Drives runs from the queue, at most `concurrency` at a time, until `signal` aborts; then gives back what it has under
 * way and resolves.
 */
export async function workRuns(
  dispatch: Pick<WorkQueue<Dispatch>, "take">,
  ports: RunPorts,
  concurrency: number,
  signal: AbortSignal,
): Promise<void> {
  const driven = new Set<Promise<void>>();
  try {
    for await (const delivery of dispatch.take(concurrency, signal)) {
      const driving = driveRun(delivery, ports, signal).finally(() => driven.delete(driving));
      driven.add(driving);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.allSettled(driven);
  }
}
