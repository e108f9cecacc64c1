import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { ClientCallState } from "@reeve/contracts/run";

/**
 * How long a run has been worked on. The time stops while the run is parked, while it has no owner, and while it waits for
 * an answer of a person or for a provider that failed.
 */
export interface WorkedTime {
  /** Milliseconds of the periods of work that are over. */
  readonly pastMs: number;
  /** When the current period began; undefined: the time is stopped. */
  readonly sinceMs: number | undefined;
  /** When the owner last wrote. What others write does not show that the owner still works. */
  readonly lastMs: number;
  /** How many questions of tools wait for an answer: the time is stopped while there is one. */
  readonly questions: number;
  /** Whether a failed model call waits for its next attempt: the time is stopped meanwhile. */
  readonly waitsForProvider: boolean;
}

export const noWorkedTime: WorkedTime = {
  pastMs: 0,
  sinceMs: undefined,
  lastMs: 0,
  questions: 0,
  waitsForProvider: false,
};

/** Returns the worked time after one more event. */
export function timeAfter(before: WorkedTime, { event, time, standstill }: RunEvent): WorkedTime {
  const nowMs = time === undefined ? before.lastMs : timestampMs(time);
  const worked = standstill === undefined ? before : without(before, durationMs(standstill));
  switch (event.case) {
    case "runClaimed":
      // Between the last fact of the previous owner and this claim the run had no owner.
      return resumed(
        { ...worked, pastMs: workedMs(worked, worked.lastMs), sinceMs: undefined, lastMs: nowMs },
        nowMs,
      );
    case "runParked":
      return { ...worked, pastMs: workedMs(worked, nowMs), sinceMs: undefined, lastMs: nowMs };
    case "messageSubmitted":
    case "cancelRequested":
    case undefined:
      return worked;
    case "approval": {
      const { approval } = event.value;
      const { state, question, revision } = approval ?? {};
      if (question !== undefined && !isAgentQuestion(approval))
        return afterQuestion(worked, state, nowMs);
      // The owner writes the request. Votes and escalations come from elsewhere, also while the run has no owner.
      return state === ApprovalState.PENDING && revision === 0
        ? { ...worked, lastMs: nowMs }
        : worked;
    }
    case "clientCall":
      // The owner opens a call. A gateway may write the rest.
      return event.value.state === ClientCallState.OPEN ? { ...worked, lastMs: nowMs } : worked;
    case "runCreated":
    case "runPrepared":
    case "status":
    case "step":
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCall":
    case "toolCallStarted":
    case "toolResult":
    case "mcpProgress":
    case "subtask":
    case "plan":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "modelRetryDue":
    case "tokensCounted":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
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
    return {
      ...worked,
      pastMs,
      sinceMs: undefined,
      lastMs: nowMs,
      questions: worked.questions + 1,
    };
  }
  const questions = Math.max(0, worked.questions - 1);
  return resumed({ ...worked, questions, sinceMs: undefined }, nowMs);
}

/** Returns the worked time with a new period that begins at `nowMs`, unless something else stops the time. */
export function resumed(stopped: WorkedTime, nowMs: number): WorkedTime {
  const isStopped = stopped.questions > 0 || stopped.waitsForProvider;
  return isStopped ? stopped : { ...stopped, sinceMs: nowMs };
}

/** Returns the worked time without a time for which the owner stood still in the current period. */
export function without(worked: WorkedTime, standstillMs: number): WorkedTime {
  const { sinceMs } = worked;
  return sinceMs === undefined ? worked : { ...worked, sinceMs: sinceMs + standstillMs };
}

/** Returns the milliseconds that the run has been worked on at `nowMs`. */
export function workedMs({ pastMs, sinceMs }: WorkedTime, nowMs: number): number {
  return sinceMs === undefined ? pastMs : pastMs + Math.max(0, nowMs - sinceMs);
}
