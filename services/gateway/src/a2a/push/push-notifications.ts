import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { deliverDue } from "./deliver-pushes.ts";
import type { PushPorts, TaskKey } from "./push-ports.ts";
import { pushesKeyOf } from "./push-ports.ts";

/** Interval between searches for tasks that are due for a look. */
const roundMs = 1_000;
/** The longest interval between two looks at a task of which nothing is due, while there are few. */
const maxDelayMs = 5_000;
/** With many tasks, the interval grows by so much for each, so that the looks of a gateway do not load the store. */
const delayPerTaskMs = 5;
/** How many looks are made at the same time, and how many of them at tasks of one tenant. */
const permits = 64;
const permitsPerKey = 8;

interface Look {
  readonly untilMs: number;
  readonly delayMs: number;
}

/**
 * Delivers push notifications until `signal` aborts. All gateways do this for all tasks; there is no leader, because `deliverDue` may run
 * anywhere any number of times. Tasks wait for their looks in turn, so that none is left out however many there are. A tenant whose
 * receivers do not answer does not delay those of others.
 */
export async function pushNotifications(
  ports: PushPorts,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = ports;
  const looks = new KeyedSemaphore({ permits, permitsPerKey, maxWaitingPerKey: Infinity });
  const looked = new Map<string, Look>();
  const working = new Map<string, Promise<void>>();
  /** The tenants whose last look failed: a store that is away is one line of the log, and not one for each task. */
  const failing = new Set<string>();
  const look = async (key: string, task: TaskKey, longestMs: number) => {
    try {
      using _ = await looks.acquire(task.tenant, signal);
      await deliverDue(ports, task, log, signal);
      failing.delete(task.tenant);
    } catch (error) {
      if (!signal.aborted && !failing.has(task.tenant)) {
        log.warn({ err: error, ...task }, "push notifications wait for the store");
      }
      failing.add(task.tenant);
    }
    const delayMs = Math.min((looked.get(key)?.delayMs ?? roundMs / 2) * 2, longestMs);
    looked.set(key, { untilMs: clock.now() + delayMs, delayMs });
    working.delete(key);
  };
  try {
    for (;;) {
      const known = ports.known();
      const longestMs = Math.max(maxDelayMs, known.length * delayPerTaskMs);
      const keys = new Set<string>();
      for (const { tenant, runId } of known) {
        const task = { tenant, runId };
        const key = pushesKeyOf(task);
        keys.add(key);
        const isDue = (looked.get(key)?.untilMs ?? 0) <= clock.now();
        if (isDue && !working.has(key)) working.set(key, look(key, task, longestMs));
      }
      for (const key of looked.keys()) if (!keys.has(key)) looked.delete(key);
      await clock.sleep(roundMs, signal);
    }
  } finally {
    await Promise.all(working.values());
  }
}
