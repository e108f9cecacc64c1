import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";

/** How long a run has been worked on. The time stands still while the run is parked, and while nobody owns it. */
export interface WorkedTime {
  /** Milliseconds of the stretches that are over. */
  readonly pastMs: number;
  /** When the present stretch began; undefined: the run rests. */
  readonly sinceMs: number | undefined;
  /** When its owner last wrote: what others write says nothing of whether it still works. */
  readonly lastMs: number;
  /** How many questions of its tools people have not answered: the time stands still as long as there is one. */
  readonly questions: number;
}

export const noWorkedTime: WorkedTime = { pastMs: 0, sinceMs: undefined, lastMs: 0, questions: 0 };

export function timeAfter(worked: WorkedTime, { event, time }: RunEvent): WorkedTime {
  const nowMs = time === undefined ? worked.lastMs : timestampMs(time);
  switch (event.case) {
    case "runClaimed":
      // Nobody owned the run between the last word of its owner before and this claim.
      return {
        pastMs: workedMs(worked, worked.lastMs),
        sinceMs: worked.questions === 0 ? nowMs : undefined,
        lastMs: nowMs,
        questions: worked.questions,
      };
    case "runParked":
      return { ...worked, pastMs: workedMs(worked, nowMs), sinceMs: undefined, lastMs: nowMs };
    case "messageSubmitted":
    case "cancelRequested":
      return worked;
    case "approval": {
      const { state, question } = event.value.approval ?? {};
      if (question !== undefined) return afterQuestion(worked, state, nowMs);
      return state === ApprovalState.PENDING ? { ...worked, lastMs: nowMs } : worked;
    }
    default:
      return { ...worked, lastMs: nowMs };
  }
}

function afterQuestion(
  worked: WorkedTime,
  state: ApprovalState | undefined,
  nowMs: number,
): WorkedTime {
  if (state === ApprovalState.PENDING) {
    const pastMs = workedMs(worked, nowMs);
    return { pastMs, sinceMs: undefined, lastMs: nowMs, questions: worked.questions + 1 };
  }
  const questions = Math.max(0, worked.questions - 1);
  return { ...worked, questions, sinceMs: questions === 0 ? nowMs : undefined };
}

/** Milliseconds that the run has been worked on at `nowMs`. */
export function workedMs({ pastMs, sinceMs }: WorkedTime, nowMs: number): number {
  return sinceMs === undefined ? pastMs : pastMs + Math.max(0, nowMs - sinceMs);
}
