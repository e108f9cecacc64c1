import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { TriggerRecord } from "@reeve/contracts/trigger";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { triggerKeyOf } from "../trigger-records.ts";
import type { FireDuePorts } from "./fire-due.ts";
import { claim, fireDue, isLeft } from "./fire-due.ts";

/** Interval between looks at all triggers. */
const roundMs = 1_000;
/** The longest interval between two attempts of a trigger that fails. */
const maxDelayMs = 60_000;
/** How many triggers are fired at a time. */
const concurrency = 8;

/**
 * Fires the triggers whose time has come until `signal` aborts. All gateways do this for all triggers; there is no leader, because
 * `fireDue` may run anywhere any number of times. A trigger that fails is tried again at increasing intervals, and delays no other.
 */
export async function fireTriggers(
  ports: FireDuePorts,
  clock: Clock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const waiting = new Map<string, { readonly untilMs: number; readonly delayMs: number }>();
  for (;;) {
    const nowMs = clock.now();
    const isFree = (record: TriggerRecord) => (waiting.get(nameOf(record))?.untilMs ?? 0) <= nowMs;
    const due = ports.known().filter((record) => isDue(record, nowMs) && isFree(record));
    const next = due.values();
    const fire = async (record: TriggerRecord) => {
      const { tenant, trigger } = record;
      const triggerId = trigger?.spec?.triggerId ?? "";
      try {
        await fireDue(ports, { tenant, trigger: triggerId }, signal);
        waiting.delete(nameOf(record));
      } catch (error) {
        signal.throwIfAborted();
        // The view may still have a trigger that was deleted.
        if (error instanceof Failure && error.kind === "not_found") {
          waiting.delete(nameOf(record));
          return;
        }
        const before = waiting.get(nameOf(record))?.delayMs ?? roundMs;
        const delayMs = isTenantKeyDeleted(error) ? maxDelayMs : Math.min(before * 2, maxDelayMs);
        waiting.set(nameOf(record), { untilMs: nowMs + delayMs, delayMs });
        log.warn({ err: error, tenant, triggerId }, "trigger did not fire; trying again later");
      }
    };
    const fireNext = async () => {
      for (const record of next) await fire(record);
    };
    await Promise.all(Array.from({ length: concurrency }, fireNext));
    await clock.sleep(roundMs, signal);
  }
}

function nameOf({ tenant, trigger }: TriggerRecord): string {
  return triggerKeyOf({ tenant, trigger: trigger?.spec?.triggerId ?? "" });
}

/** Whether this gateway has something to do for a trigger: claim a firing, or complete one that its gateway has left. */
function isDue(record: TriggerRecord, nowMs: number): boolean {
  const [pending] = record.pending;
  if (pending === undefined) return isTimeOver(record, nowMs) && claim(record, nowMs) !== undefined;
  return isLeft(pending, nowMs);
}

function isTimeOver({ trigger }: TriggerRecord, nowMs: number): boolean {
  return trigger?.nextFiringAt !== undefined && timestampMs(trigger.nextFiringAt) <= nowMs;
}
