import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type {
  ContextChanged,
  ModelCallStarted,
  ModelTurn,
  RunEvent,
  Usage,
} from "@reeve/contracts/run";
import { ModelCallPurpose, StepState } from "@reeve/contracts/run";
import type { Message } from "@reeve/contracts/thread";
import { withMediaEnded, withMediaLost, withMediaStarted } from "../media/media-call.ts";
import { withApproval } from "./call-approval.ts";
import { afterChange } from "./client-call.ts";
import { userUnit } from "./conversation.ts";
import type { Call, Frame, ModelCall, TurnUnit } from "./frame.ts";
import { plannerId } from "./frame.ts";
import { amendModelCall, changeModel, failedCall, streaming } from "./model-call.ts";
import { withNewest, withUnit } from "./units.ts";
import { isStopped } from "../stop/stopped-call.ts";
import { isFinished } from "../subtasks/finish-subtask.ts";
import { recordQuestion } from "../calls/questions/questions.ts";

/** Applies one event to a frame. Returns the same frame for events that do not concern it. */
export function applyToFrame(frame: Frame, envelope: RunEvent): Frame {
  const { event, sequence } = envelope;
  switch (event.case) {
    case "step":
      return event.value.state === StepState.STARTED
        ? openStep(frame, envelope.stepNumber, sequence)
        : { ...frame, stepOpen: false };
    case "messageInjected":
      return takeMessage(frame, event.value.message);
    case "modelCallStarted":
      return beginModelCall(frame, event.value, envelope);
    case "text":
      return {
        ...amendModelCall(frame, (call) => streaming(call, sequence)),
        text: frame.text + event.value.text,
      };
    case "reasoning":
      return amendModelCall(frame, (call) => streaming(call, sequence));
    case "textVoided":
      return frame.modelCall?.status === "replaced"
        ? { ...frame, modelCall: undefined, text: "" }
        : {
            ...amendModelCall(frame, (call) => ({ ...call, streamedFrom: undefined })),
            turnStreamedFrom: undefined,
            text: "",
          };
    case "modelCallFailed": {
      const failure = event.value;
      if (failure.fallbackModel !== "") return changeModel(frame);
      const failed = amendModelCall(frame, (call) => failedCall(call, failure, msOf(envelope)));
      const isTooLarge =
        failure.reason === "context_overflow" &&
        frame.modelCall?.purpose === ModelCallPurpose.ANSWER;
      return isTooLarge ? { ...failed, hasOverflowed: true } : failed;
    }
    case "runClaimed":
      return withoutOwner(frame);
    case "mediaCallStarted": {
      const started = event.value;
      return amendCall(frame, started.callId, (call) => withMediaStarted(call, started));
    }
    case "mediaCallEnded": {
      const ended = event.value;
      return amendCall(frame, ended.callId, (call) => withMediaEnded(call, ended));
    }
    case "modelRetryDue":
      return amendModelCall(frame, (call) => ({ ...call, status: "due" }));
    case "tokensCounted":
      return { ...frame, counted: event.value.inputTokens };
    case "remoteTask": {
      const { taskId, contextId } = event.value;
      return { ...frame, remote: { taskId, contextId, step: frame.step } };
    }
    case "usage":
      return charged(frame, event.value);
    case "context":
      return compact(frame, event.value);
    case "modelTurn":
      return takeTurn(frame, event.value);
    case "toolCall": {
      const call = event.value;
      const pending = {
        startedAtMs: undefined,
        approval: undefined,
        permission: undefined,
        progressReports: 0,
        questions: [],
        result: undefined,
      };
      return {
        ...frame,
        calls: [...frame.calls, { call, requestedAtMs: msOf(envelope), ...pending }],
      };
    }
    case "toolCallStarted": {
      const startedAtMs = msOf(envelope);
      const { callId, permission } = event.value;
      return amendCall(frame, callId, (call) => ({
        ...call,
        startedAtMs: call.startedAtMs ?? startedAtMs,
        permission,
      }));
    }
    case "subtask": {
      const startedAtMs = msOf(envelope);
      return amendCall(frame, event.value.callId, (call) => ({
        ...call,
        startedAtMs: call.startedAtMs ?? startedAtMs,
      }));
    }
    case "mcpProgress":
      return amendCall(frame, event.value.callId, (call) => ({
        ...call,
        progressReports: call.progressReports + 1,
      }));
    case "approval": {
      const { approval } = event.value;
      return amendCall(frame, approval?.call?.callId, (call) =>
        approval?.question === undefined || isAgentQuestion(approval)
          ? { ...call, ...withApproval(call, approval) }
          : recordQuestion(call, approval),
      );
    }
    case "clientCall": {
      const changed = event.value;
      return amendCall(frame, changed.callId, (call) => ({
        ...call,
        clientCall: afterChange(call.clientCall, changed),
      }));
    }
    case "toolResult": {
      const { result } = event.value;
      return amendCall(frame, result?.callId, (call) => ({ ...call, result }));
    }
    case "runCreated":
    case "runParked":
    case "runPrepared":
    case "status":
    case "plan":
    case "messageSubmitted":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "pluginHookFinished":
    case "runEnding":
    case undefined:
      return frame;
  }
}

/** The attempts of the previous owner are lost. */
function withoutOwner(frame: Frame): Frame {
  const open = amendModelCall(frame, (call) =>
    call.status === "in_progress" ? { ...call, status: "due", reservedUsd: 0 } : call,
  );
  const calls = withMediaLost(open.calls);
  return calls === open.calls ? open : { ...open, calls };
}

function openStep(frame: Frame, step: number, stepSequence: number): Frame {
  return {
    ...frame,
    step,
    stepOpen: true,
    stepSequence,
    injected: 0,
    turnStreamedFrom: undefined,
    isCompacted: false,
    hasOverflowed: false,
    counted: undefined,
    modelCall: undefined,
    calls: [],
    hasTurn: frame.workflow !== undefined,
    text: "",
  };
}

function beginModelCall(frame: Frame, started: ModelCallStarted, envelope: RunEvent): Frame {
  // The planner has no step events: a model call after a complete turn begins its next step.
  const isNextOfPlanner = frame.id === plannerId && (frame.step === 0 || frame.hasTurn);
  const open = isNextOfPlanner ? openStep(frame, frame.step + 1, envelope.sequence) : frame;
  const before = started.attempt === 1 ? undefined : frame.modelCall;
  const modelCall: ModelCall = {
    attempt: started.attempt,
    failures: before?.failures ?? 0,
    providerFailures: before?.providerFailures ?? 0,
    malformedAnswers: before?.malformedAnswers ?? 0,
    firstFailedAtMs: before?.firstFailedAtMs,
    startedAtMs: msOf(envelope),
    purpose: started.purpose,
    sequence: envelope.sequence,
    status: "in_progress",
    streamedFrom: undefined,
    reservedUsd: started.reservedUsd ?? 0,
    inputTokens: started.inputTokens,
    maxOutputTokens: started.maxOutputTokens,
  };
  // The calls of an attempt without a turn were never executed.
  return { ...open, modelCall, calls: [], text: "" };
}

function takeMessage(frame: Frame, message: Message | undefined): Frame {
  const { text = "", parts = [] } = message ?? {};
  const newest = frame.units.newest?.value;
  const hadAnswered =
    newest?.kind === "turn" && (newest.calls.every(isStopped) || isFinished(newest));
  return {
    ...frame,
    answeredStep: hadAnswered ? frame.step - 1 : frame.answeredStep,
    counted: undefined,
    injected: frame.injected + 1,
    units: withUnit(frame.units, userUnit({ text, parts }, false)),
  };
}

function takeTurn(frame: Frame, turn: ModelTurn): Frame {
  const unit: TurnUnit = { kind: "turn", turn, text: frame.text, calls: frame.calls };
  const units = withUnit(frame.units, unit);
  const tokens = turn.contextTokens;
  // A task that asks nothing has ended.
  const remote =
    frame.remote && frame.calls.length === 0 ? { ...frame.remote, taskId: "" } : frame.remote;
  return {
    ...frame,
    remote,
    modelCall: undefined,
    hasTurn: true,
    turnStreamedFrom: frame.modelCall?.streamedFrom,
    units,
    measured: tokens > 0 ? { units: units.length, tokens } : frame.measured,
  };
}

function compact(frame: Frame, changed: ContextChanged): Frame {
  const { removedMessages, summary } = changed;
  const user = frame.units.latestUser;
  return {
    ...frame,
    compaction: {
      removed: removedMessages,
      kept: user !== undefined && user < removedMessages ? user : undefined,
      summary,
    },
    isCompacted: true,
    hasOverflowed: false,
    measured: undefined,
    counted: undefined,
    modelCall: undefined,
  };
}

/** Releases the reservation, and raises the scale as far as the provider's count of the request was above the scaled one. */
function charged(frame: Frame, { inputTokens, estimated }: Usage): Frame {
  const counted = frame.modelCall?.inputTokens ?? 0;
  const ratio = estimated || counted === 0 ? 1 : inputTokens / counted;
  const released = amendModelCall(frame, (call) => ({ ...call, reservedUsd: 0 }));
  return ratio > 1 ? { ...released, scale: frame.scale * ratio } : released;
}

function amendCall(frame: Frame, callId: string | undefined, amend: (call: Call) => Call): Frame {
  const calls = frame.calls.map((call) => (call.call.callId === callId ? amend(call) : call));
  const newest = frame.units.newest?.value;
  const units =
    newest?.kind === "turn" && frame.hasTurn
      ? withNewest(frame.units, { ...newest, calls })
      : frame.units;
  return { ...frame, calls, units };
}

function msOf({ time }: RunEvent): number {
  return time === undefined ? 0 : timestampMs(time);
}
