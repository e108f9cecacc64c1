import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ModelWait, RunEvent } from "@reeve/contracts/run";
import { ModelWaitSchema } from "@reeve/contracts/run";

/** The failed model calls that wait for their next attempt, by the subtask that makes them. Never changed in place. */
export type ModelWaits = ReadonlyMap<string, ModelWait>;

/** Returns the waits after one more event. */
export function waitsAfter(waits: ModelWaits, { event, time, parentId }: RunEvent): ModelWaits {
  switch (event.case) {
    case "modelCallFailed": {
      const { provider, reason, message, attempt, retryDelay } = event.value;
      if (retryDelay === undefined || time === undefined) return without(waits, parentId);
      const until = timestampFromMs(timestampMs(time) + durationMs(retryDelay));
      const wait = create(ModelWaitSchema, { provider, reason, message, attempt, until });
      return new Map(waits).set(parentId, wait);
    }
    case "modelRetryDue":
      return without(waits, parentId);
    default:
      return waits;
  }
}

function without(waits: ModelWaits, parentId: string): ModelWaits {
  if (!waits.has(parentId)) return waits;
  const others = new Map(waits);
  others.delete(parentId);
  return others;
}

/** Returns the wait that ends first; undefined if there is none. */
export function firstWait(waits: ModelWaits): ModelWait | undefined {
  return [...waits.values()].toSorted((a, b) => endOf(a) - endOf(b))[0];
}

function endOf({ until }: ModelWait): number {
  return until === undefined ? Infinity : timestampMs(until);
}
