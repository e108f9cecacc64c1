import type { TriggerRecord } from "@reeve/contracts/trigger";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { triggerKeyOf } from "../trigger-records.ts";
import type { FireDuePorts } from "./fire-due.ts";
import { fireDue, isLeft } from "./fire-due.ts";
import { isTimeOver } from "./next-firing.ts";
import { isTimeAhead, repairTime } from "./repair-time.ts";

/** Interval between looks at all triggers. */
const roundMs = 1_000;
/** The longest interval between two attempts of a trigger that fails. */
const maxDelayMs = 60_000;
/** How many triggers are fired at a time. */
const concurrency = 16;
/** How many of them may be those of one tenant. */
const maxOfTenant = 4;
/** Interval between two looks at the next time of a trigger that seems wrong. */
const lookMs = 600_000;
/** How long an attempt may take. */
const maxAttemptMs = 60_000;

/**
 * Fires the triggers whose time has come until `signal` aborts. All gateways do this for all triggers; there is no leader, because
 * `fireDue` may run anywhere any number of times. A trigger that fails is tried again at increasing intervals. One that takes long
 * delays no other, and a tenant with many does not delay those of others.
 */
export async function fireTriggers(
  ports: FireDuePorts,
  clock: Clock,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  const waiting = new Map<string, { readonly untilMs: number; readonly delayMs: number }>();
  /** When the next times of triggers may be looked at again that a clock seems to have set that is ahead. */
  const looked = new Map<string, number>();
  /** The attempts in progress, by trigger. */
  const firing = new Map<string, { readonly tenant: string; readonly ended: Promise<void> }>();
  /** The triggers that are due, by name, and not being fired. */
  const due = new Map<string, TriggerRecord>();

  const fire = async (name: string, { tenant, trigger }: TriggerRecord) => {
    const triggerId = trigger?.spec?.triggerId ?? "";
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(maxAttemptMs)]);
      const key = { tenant, trigger: triggerId };
      await fireDue(ports, key, limit);
      if (takeLook(name, clock.now()) && (await repairTime(ports, key, limit))) {
        log.warn({ tenant, triggerId }, "the clock of a gateway is ahead; corrected the next time");
      }
      waiting.delete(name);
    } catch (error) {
      if (signal.aborted) return;
      // The view may still have a trigger that was deleted.
      if (error instanceof Failure && error.kind === "not_found") {
        waiting.delete(name);
        return;
      }
      const before = waiting.get(name)?.delayMs ?? roundMs;
      const delayMs = isTenantKeyDeleted(error) ? maxDelayMs : Math.min(before * 2, maxDelayMs);
      waiting.set(name, { untilMs: clock.now() + delayMs, delayMs });
      log.warn({ err: error, tenant, triggerId }, "trigger did not fire; trying again later");
    }
  };
  /** Whether the time of a trigger is to be looked at now, which is counted. */
  const takeLook = (name: string, nowMs: number) => {
    if ((looked.get(name) ?? 0) > nowMs) return false;
    // Those that are over come first. Their triggers may not exist any more.
    for (const [other, untilMs] of looked) {
      if (untilMs > nowMs) break;
      looked.delete(other);
    }
    looked.set(name, nowMs + lookMs);
    return true;
  };
  const fireOne = async (name: string, record: TriggerRecord) => {
    await fire(name, record);
    firing.delete(name);
    fireNext();
  };
  const hasRoom = (tenant: string) =>
    [...firing.values()].filter((each) => each.tenant === tenant).length < maxOfTenant;
  const fireNext = () => {
    for (const [name, record] of due) {
      if (signal.aborted || firing.size >= concurrency) return;
      const { tenant } = record;
      if (!hasRoom(tenant)) continue;
      due.delete(name);
      firing.set(name, { tenant, ended: fireOne(name, record) });
    }
  };

  try {
    for (;;) {
      const nowMs = clock.now();
      due.clear();
      for (const record of ports.known()) {
        const name = nameOf(record);
        const isFree = !firing.has(name) && (waiting.get(name)?.untilMs ?? 0) <= nowMs;
        const isAhead = () => (looked.get(name) ?? 0) <= nowMs && isTimeAhead(record, nowMs);
        if (isFree && (isDue(record, nowMs) || isAhead())) due.set(name, record);
      }
      fireNext();
      await clock.sleep(roundMs, signal);
    }
  } finally {
    await Promise.all([...firing.values()].map(({ ended }) => ended));
  }
}

function nameOf({ tenant, trigger }: TriggerRecord): string {
  return triggerKeyOf({ tenant, trigger: trigger?.spec?.triggerId ?? "" });
}

/** Whether this gateway has something to do for a trigger: claim a firing, or complete one that its gateway has left. */
function isDue(record: TriggerRecord, nowMs: number): boolean {
  const [pending] = record.pending;
  return pending === undefined ? isTimeOver(record, nowMs) : isLeft(pending, nowMs);
}
