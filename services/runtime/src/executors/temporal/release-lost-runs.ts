import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { BackoffOptions } from "@reeve/platform/async/retry/backoff";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { retry } from "@reeve/platform/async/retry/retry";
import { sleep } from "@reeve/platform/async/sleep";
import { TaskSet } from "@reeve/platform/async/task-set";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { RuntimePorts } from "../port.ts";

/** How many runs are released at a time. */
const maxConcurrent = 20;
/** For how long a release is tried while Temporal does not answer. After that, its own time limits have ended the activities. */
const maxElapsedMs = 60_000;
const backoff = { firstDelayMs: 200, maxDelayMs: 1_000, jitter: 0.5 };
/** The delay before dead workers are followed again after the store failed. */
const defaultRestart = { firstDelayMs: 500, maxDelayMs: 5_000, jitter: 0.5 };

export interface LostRun {
  /** The name of the dead worker. */
  readonly worker: string;
  readonly run: string;
}

export interface LostRunRelease {
  readonly holder: Pick<RuntimePorts["holder"], "lostRuns">;
  readonly ownerFate: RuntimePorts["ownerFate"];
  readonly log: Logger;
  /** Default: half a second to five seconds. */
  readonly restart?: BackoffOptions;
  /** Makes Temporal give a run to another worker if the dead one still has it there. */
  release(lost: LostRun): Promise<void>;
}

/**
 * Tells Temporal of workers that are proven dead, until `signal` aborts, so that it gives their runs to others before heartbeats are missed.
 * What is not told, the time limit of heartbeats replaces.
 */
export async function releaseLostRuns(
  { holder, ownerFate, log, release, restart = defaultRestart }: LostRunRelease,
  signal: AbortSignal,
): Promise<void> {
  const restarts = new Backoff(restart);
  const permits = new Semaphore(maxConcurrent);
  // Beyond the loss of the store, which often comes with the death of a worker.
  const releases = new TaskSet();
  const releaseOne = async (lost: LostRun) => {
    using _ = await permits.acquire(signal);
    try {
      const limits = { backoff, maxElapsedMs, isRetryable: () => true };
      await retry(
        async () => {
          // A worker that only lost its connection for a while keeps its runs, and shows them again: also while Temporal does not answer.
          const fate = await ownerFate(lost.worker, signal).catch(() => undefined);
          if (fate !== "alive") await release(lost);
        },
        limits,
        signal,
      );
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error, runId: lost.run }, "Temporal was not told of a dead worker");
    }
  };
  try {
    for (;;) {
      try {
        for await (const { worker, runs } of holder.lostRuns(signal)) {
          restarts.reset();
          log.info({ holder: worker, runs: runs.length }, "a worker is dead; releasing its runs");
          for (const run of runs) void releases.add(releaseOne({ worker, run }));
        }
      } catch (error) {
        signal.throwIfAborted();
        if (restarts.failures === 0) log.warn({ err: error }, "dead workers are not followed");
      }
      await sleep(restarts.next(), signal);
    }
  } finally {
    await releases.settled();
  }
}
