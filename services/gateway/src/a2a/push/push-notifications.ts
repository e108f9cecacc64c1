import type { Logger } from "@reeve/platform/telemetry/logger";
import { deliverDue } from "./deliver-pushes.ts";
import type { PushPorts } from "./push-ports.ts";
import { pushesKeyOf } from "./push-ports.ts";

/** Interval between looks at all tasks with receivers. */
const roundMs = 1_000;
/** The longest interval between two looks at a task of which nothing is due. */
const maxDelayMs = 5_000;
const concurrency = 16;
/** How many of them may be those of one tenant. */
const maxOfTenant = 4;

/**
 * Delivers push notifications until `signal` aborts. All gateways do this for all tasks; there is no leader, because `deliverDue` may run
 * anywhere any number of times. A tenant whose receivers do not answer does not delay those of others.
 */
export async function pushNotifications(
  ports: PushPorts,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = ports;
  const waiting = new Map<string, { readonly untilMs: number; readonly delayMs: number }>();
  const working = new Map<string, { readonly tenant: string; readonly ended: Promise<void> }>();
  const hasRoom = (tenant: string) =>
    working.size < concurrency &&
    [...working.values()].filter((each) => each.tenant === tenant).length < maxOfTenant;
  const deliver = async (key: string, task: { tenant: string; runId: string }) => {
    try {
      await deliverDue(ports, task, log, signal);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error, ...task }, "push notifications wait for the store");
    }
    const delayMs = Math.min((waiting.get(key)?.delayMs ?? roundMs / 2) * 2, maxDelayMs);
    waiting.set(key, { untilMs: clock.now() + delayMs, delayMs });
    working.delete(key);
  };
  try {
    for (;;) {
      const keys = new Set<string>();
      for (const { tenant, runId } of ports.known()) {
        const task = { tenant, runId };
        const key = pushesKeyOf(task);
        keys.add(key);
        const isFree = !working.has(key) && (waiting.get(key)?.untilMs ?? 0) <= clock.now();
        if (isFree && hasRoom(tenant)) working.set(key, { tenant, ended: deliver(key, task) });
      }
      for (const key of waiting.keys()) if (!keys.has(key)) waiting.delete(key);
      await clock.sleep(roundMs, signal);
    }
  } finally {
    await Promise.all([...working.values()].map(({ ended }) => ended));
  }
}
