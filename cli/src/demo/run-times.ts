import type { RunEvent } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { millisOf } from "../render/numbers.ts";

/** How a run spent its time, in milliseconds. */
export interface RunTimes {
  readonly totalMs: number;
  readonly modelMs: number;
  readonly toolMs: number;
  /** Time waiting for approval. */
  readonly waitedMs: number;
}

interface Open {
  readonly firstMs: number | undefined;
  readonly modelSince: number | undefined;
  readonly waitingSince: ReadonlyMap<string, number>;
}

/** The times so far, and when the unfinished activities started. */
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

/** Adds an event to the times. Needs the records of the run too. */
export function addTimes(sum: TimesSoFar, { event, time }: RunEvent): TimesSoFar {
  if (time === undefined) return sum;
  const now = millisOf(time);
  const firstMs = sum.firstMs ?? now;
  const times = { ...sum, firstMs, totalMs: Math.max(now - firstMs, sum.totalMs) };
  switch (event.case) {
    case "modelCallStarted":
      return { ...times, modelSince: now };
    case "modelTurn":
    case "modelCallFailed":
      return { ...times, modelSince: undefined, modelMs: sum.modelMs + since(sum.modelSince, now) };
    case "toolResult":
      return {
        ...times,
        toolMs: sum.toolMs + (event.value.result?.metadata?.executionTimeMs ?? 0),
      };
    case "approval": {
      const { approval } = event.value;
      const waiting = new Map(sum.waitingSince);
      const id = approval?.approvalId ?? "";
      if (approval?.state === ApprovalState.PENDING) {
        return { ...times, waitingSince: waiting.set(id, now) };
      }
      const waitedMs = sum.waitedMs + since(waiting.get(id), now);
      waiting.delete(id);
      return { ...times, waitingSince: waiting, waitedMs };
    }
    case "runCreated":
    case "runClaimed":
    case "runParked":
    case "runPrepared":
    case "status":
    case "step":
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCall":
    case "toolCallStarted":
    case "mcpProgress":
    case "subtask":
    case "plan":
    case "context":
    case "usage":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return times;
  }
}

function since(start: number | undefined, now: number): number {
  return start === undefined ? 0 : Math.max(now - start, 0);
}
