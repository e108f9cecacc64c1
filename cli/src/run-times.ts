import type { RunEvent } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { millisOf } from "./render/numbers.ts";

/** Where the time of a run went, in milliseconds. */
export interface RunTimes {
  readonly totalMs: number;
  readonly modelMs: number;
  readonly toolMs: number;
  /** Time spent waiting for people. */
  readonly waitedMs: number;
}

interface Open {
  readonly firstMs: number | undefined;
  readonly modelSince: number | undefined;
  readonly waitingSince: ReadonlyMap<string, number>;
}

/** Times so far, and what has begun and not ended. */
export type TimesSoFar = RunTimes & Open;

export const noTimes: TimesSoFar = {
  totalMs: 0,
  modelMs: 0,
  toolMs: 0,
  waitedMs: 0,
  firstMs: undefined,
  modelSince: undefined,
  waitingSince: new Map(),
};

/** Adds an event to the times. Needs the records of the run as well as its events. */
export function addTimes(so: TimesSoFar, { event, time }: RunEvent): TimesSoFar {
  if (time === undefined) return so;
  const now = millisOf(time);
  const firstMs = so.firstMs ?? now;
  const times = { ...so, firstMs, totalMs: Math.max(now - firstMs, so.totalMs) };
  switch (event.case) {
    case "modelCallStarted":
      return { ...times, modelSince: now };
    case "modelTurn":
    case "modelCallFailed":
      return { ...times, modelSince: undefined, modelMs: so.modelMs + since(so.modelSince, now) };
    case "toolResult":
      return {
        ...times,
        toolMs: so.toolMs + (event.value.result?.metadata?.executionTimeMs ?? 0),
      };
    case "approval": {
      const { approval } = event.value;
      const waiting = new Map(so.waitingSince);
      const id = approval?.approvalId ?? "";
      if (approval?.state === ApprovalState.PENDING) {
        return { ...times, waitingSince: waiting.set(id, now) };
      }
      const waitedMs = so.waitedMs + since(waiting.get(id), now);
      waiting.delete(id);
      return { ...times, waitingSince: waiting, waitedMs };
    }
    default:
      return times;
  }
}

function since(start: number | undefined, now: number): number {
  return start === undefined ? 0 : Math.max(now - start, 0);
}
