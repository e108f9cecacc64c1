import { ErrorReason } from "@reeve/contracts/error";
import type { Schedule, TriggerSpec } from "@reeve/contracts/trigger";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import { getAgent } from "../agents.ts";
import { inputViolations, renderInput } from "./render-input.ts";
import { cronTimes, isTimeZone } from "./schedule/cron-times.ts";
import type { TriggerPorts } from "./trigger-ports.ts";

/** How many times of a schedule are checked for their distance. */
const checkedTimes = 200;

/** Throws a Failure with all that is wrong with a spec that keeps the rules of its contract, or if its agent does not exist. */
export async function checkTrigger(
  { gateway, clock, minIntervalMs }: Pick<TriggerPorts, "gateway" | "clock" | "minIntervalMs">,
  tenant: string,
  spec: TriggerSpec,
  signal: AbortSignal,
): Promise<void> {
  const { source } = spec;
  const violations = [...inputViolations(spec.input, source.case === "webhook")];
  if (source.case === "schedule") violations.push(...lengthViolations(spec, clock.now()));
  if (Object.hasOwn(spec.labels, "trigger")) {
    const description = "is the label with the id of the trigger; use another name";
    violations.push({ field: 'spec.labels["trigger"]', description, reason: "RESERVED" });
  }
  switch (source.case) {
    case "schedule":
      violations.push(...scheduleViolations(source.value, { nowMs: clock.now(), minIntervalMs }));
      break;
    case "webhook":
      break;
    case undefined: {
      const description = "is required: set `schedule` or `webhook`";
      violations.push({ field: "spec.source", description, reason: "REQUIRED" });
    }
  }
  if (violations.length > 0) throw invalidRequest(violations);
  await getAgent(gateway, tenant, spec.agentId, signal);
}

/** Returns a violation if the input is too long with the values of a schedule, whose lengths are always the same. */
function lengthViolations({ input, triggerId }: TriggerSpec, timeMs: number): readonly Violation[] {
  try {
    renderInput(input, { triggerId, timeMs, body: undefined });
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ field: "spec.input", description: error.message, reason: "TOO_LONG" }];
  }
}

/** Returns what is wrong with a schedule. */
function scheduleViolations(
  { cron, timeZone, jitter }: Schedule,
  { nowMs, minIntervalMs }: { readonly nowMs: number; readonly minIntervalMs: number },
): readonly Violation[] {
  if (!isTimeZone(timeZone)) {
    const description = `"${timeZone}" is no time zone; use a name such as Europe/Lisbon`;
    return [{ field: "spec.schedule.time_zone", description, reason: "UNKNOWN_TIME_ZONE" }];
  }
  const field = "spec.schedule.cron";
  const times: number[] = [];
  try {
    const { next } = cronTimes(cron, timeZone);
    for (let at = next(nowMs); at !== undefined && times.length < checkedTimes; at = next(at)) {
      times.push(at);
    }
  } catch (error) {
    const description = error instanceof Error ? error.message : "is no cron expression";
    return [{ field, description, reason: "MALFORMED" }];
  }
  if (times.length === 0) {
    return [{ field, description: "never fires", reason: "NEVER" }];
  }
  const shortest = Math.min(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
  if (shortest < minIntervalMs) {
    const description = `fires every ${shortest / 1_000} seconds; the minimum is ${minIntervalMs / 1_000}`;
    return [{ field, description, reason: "TOO_OFTEN" }];
  }
  if (jitter !== undefined && durationMs(jitter) > shortest) {
    const description = `is longer than the ${shortest / 1_000} seconds between two firings`;
    return [{ field: "spec.schedule.jitter", description, reason: "TOO_LARGE" }];
  }
  return [];
}

/** Returns the Failure of an update that would turn a schedule into a webhook, or the other way round. */
export function sourceChanged(triggerId: string): Failure {
  const message = `trigger ${triggerId} keeps its kind of source; create another trigger for the other kind`;
  const violation = { field: "spec.source", description: message, reason: "IMMUTABLE" };
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations: [violation] });
}
