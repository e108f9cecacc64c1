import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Schedule, Trigger, TriggerRecord } from "@reeve/contracts/trigger";
import { TriggerState } from "@reeve/contracts/trigger";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { cronTimes } from "./cron-times.ts";
import type { DueSchedule } from "./decide-firing.ts";
import { jitterOf } from "./decide-firing.ts";

/** Returns the schedule of a trigger. Undefined: it has none. */
function scheduleOf({ spec }: Pick<Trigger, "spec">): Schedule | undefined {
  return spec?.source.case === "schedule" ? spec.source.value : undefined;
}

/** Returns a trigger with its next time after `nowMs`; with none if it is not active, or has no schedule. */
export function withNextFiring(trigger: Trigger, nowMs: number): Trigger {
  const { nextFiringAt: _, ...rest } = trigger;
  const schedule = scheduleOf(trigger);
  if (schedule === undefined || trigger.state !== TriggerState.ACTIVE) return rest;
  const nextMs = cronTimes(schedule.cron, schedule.timeZone).next(nowMs);
  return nextMs === undefined ? rest : { ...rest, nextFiringAt: timestampFromMs(nextMs) };
}

/** Returns the schedule of an active trigger, and its next time. Undefined: it fires at no time. */
export function dueScheduleOf({ trigger, uid }: TriggerRecord): DueSchedule | undefined {
  if (trigger?.state !== TriggerState.ACTIVE || trigger.nextFiringAt === undefined)
    return undefined;
  const schedule = scheduleOf(trigger);
  if (schedule === undefined) return undefined;
  const { cron, timeZone, onMissed, maxMissed, jitter } = schedule;
  return {
    uid,
    times: cronTimes(cron, timeZone),
    nextMs: timestampMs(trigger.nextFiringAt),
    jitterMs: jitter === undefined ? 0 : durationMs(jitter),
    onMissed,
    maxMissed,
  };
}

/** Whether the next time of an active trigger has come. Asks for no times of its schedule. */
export function isTimeOver({ trigger, uid }: TriggerRecord, nowMs: number): boolean {
  if (trigger?.state !== TriggerState.ACTIVE || trigger.nextFiringAt === undefined) return false;
  const timeMs = timestampMs(trigger.nextFiringAt);
  if (timeMs > nowMs) return false;
  const { jitter } = scheduleOf(trigger) ?? {};
  return timeMs + jitterOf(uid, timeMs, jitter === undefined ? 0 : durationMs(jitter)) <= nowMs;
}
