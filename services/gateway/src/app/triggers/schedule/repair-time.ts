import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Firing, TriggerRecord } from "@reeve/contracts/trigger";
import { FiringCause } from "@reeve/contracts/trigger";
import type { TriggerPorts } from "../trigger-ports.ts";
import type { TriggerKey } from "../trigger-records.ts";
import { changeTrigger, readFirings, readTrigger } from "../trigger-records.ts";
import { dueScheduleOf } from "./next-firing.ts";

/** By how much the clocks of gateways may differ. */
const maxSkewMs = 300_000;

/** The next times of the schedules, by the clock of this gateway. */
const expected = new WeakMap<TriggerRecord, number>();

/**
 * Whether the next time of an active trigger is later than its schedule says at `nowMs`, as after a firing by a gateway whose clock is
 * ahead. Asks the schedule once for each of its times.
 */
export function isTimeAhead(record: TriggerRecord, nowMs: number): boolean {
  const { nextFiringAt } = record.trigger ?? {};
  if (nextFiringAt === undefined || timestampMs(nextFiringAt) <= nowMs + maxSkewMs) return false;
  const nextMs = nextTime(record, nowMs);
  return nextMs !== undefined && timestampMs(nextFiringAt) > nextMs;
}

/**
 * Sets the next time of a trigger by the clock of this gateway, if the last time that fired lies more than five minutes in its future.
 * Returns whether it did. Times fire no second run: the id of a run follows from its time.
 */
export async function repairTime(
  ports: Pick<TriggerPorts, "records" | "firings" | "clock">,
  key: TriggerKey,
  signal: AbortSignal,
): Promise<boolean> {
  const nowMs = ports.clock.now();
  const { record } = await readTrigger(ports, key, signal);
  if (!isTimeAhead(record, nowMs) || record.pending.length > 0) return false;
  const firings = await readFirings(ports, key, record.uid, signal);
  const last = firings.findLast(({ cause }) => cause === FiringCause.SCHEDULE);
  if (last === undefined || !isInFuture(last, nowMs)) return false;
  let isRepaired = false;
  const repair = (before: TriggerRecord) => {
    const nextMs = isTimeAhead(before, nowMs) ? nextTime(before, nowMs) : undefined;
    isRepaired = nextMs !== undefined && before.trigger !== undefined;
    if (nextMs === undefined || before.trigger === undefined) return undefined;
    return { ...before, trigger: { ...before.trigger, nextFiringAt: timestampFromMs(nextMs) } };
  };
  await changeTrigger(ports, key, repair, signal);
  return isRepaired;
}

function nextTime(record: TriggerRecord, nowMs: number): number | undefined {
  const known = expected.get(record);
  if (known !== undefined && known > nowMs) return known;
  const nextMs = dueScheduleOf(record)?.times.next(nowMs);
  if (nextMs !== undefined) expected.set(record, nextMs);
  return nextMs;
}

/** Another gateway may have completed the firing since, so that it was recorded at the right time. */
function isInFuture({ firedAt, scheduledAt }: Firing, nowMs: number): boolean {
  return [firedAt, scheduledAt].some(
    (time) => time !== undefined && timestampMs(time) > nowMs + maxSkewMs,
  );
}
