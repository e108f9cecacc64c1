import type { Approval } from "@reeve/contracts/approval";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { Change } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ApprovalPorts } from "./approval-ports.ts";
import type { DueTimes } from "./due-times.ts";

/** The maximum sleep. It also bounds how late something is after the machine was suspended. */
export const maxSleepMs = 60_000;

/** What is done with an approval when it is due. */
export interface DueWork {
  /** Returns when the approval is due again, if it is. */
  perform(key: string, signal: AbortSignal): Promise<number | undefined>;
  /** The message of the log when that fails. */
  readonly failed: string;
}

/**
 * Keeps the due times of pending approvals as the inbox has them, so that they survive restarts. `dueOf` says when an approval is due;
 * undefined: not any more.
 */
export async function watchDueTimes(
  { inbox }: Pick<ApprovalPorts, "inbox">,
  due: DueTimes,
  {
    dueOf,
    seen,
  }: {
    readonly dueOf: (approval: Approval) => number | undefined;
    readonly seen?: (change: Change<Approval>) => void;
  },
  signal: AbortSignal,
): Promise<void> {
  for await (const change of inbox.watch("", signal)) {
    seen?.(change);
    if (change.kind === "deleted") due.remove(change.key);
    if (change.kind !== "written") continue;
    const { key, record } = change.row;
    const dueMs = dueOf(record);
    if (dueMs === undefined) due.remove(key);
    else due.set(key, dueMs);
  }
}

/** Performs what is due, one after the other, and again after a growing delay what failed, until `signal` aborts. */
export async function serveDueTimes(
  due: DueTimes,
  { perform, failed }: DueWork,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    for (const key of due.takeUntil(clock.now())) {
      try {
        const againMs = await perform(key, signal);
        due.settle(key);
        if (againMs !== undefined) due.set(key, againMs);
      } catch (error) {
        if (signal.aborted) return;
        // Nobody can store anything for the tenant any more.
        if (isTenantKeyDeleted(error)) {
          due.settle(key);
          continue;
        }
        const retryMs = due.retry(key, clock.now());
        log.warn({ err: error, approval: key, retryMs }, failed);
      }
    }
    const round = new AbortController();
    const bounded = AbortSignal.any([signal, round.signal]);
    const sleepMs = Math.min((due.next() ?? Infinity) - clock.now(), maxSleepMs);
    const waits = [clock.sleep(Math.max(sleepMs, 0), bounded), due.changed(bounded)];
    await Promise.race(waits).finally(() => round.abort());
    await Promise.allSettled(waits);
  }
}
