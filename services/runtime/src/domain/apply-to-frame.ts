import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { StepState } from "@reeve/contracts/run";
import type { Call, Frame, ModelCall } from "./run-state.ts";

/** What one event means to the loop of model turns. Events that mean nothing to it return the same frame. */
export function applyToFrame(frame: Frame, envelope: RunEvent): Frame {
  const { event, sequence } = envelope;
  switch (event.case) {
    case "step":
      return event.value.state === StepState.STARTED
        ? openStep(frame, envelope.stepNumber)
        : { ...frame, stepOpen: false };
    case "messageInjected": {
      const text = event.value.message?.text ?? "";
      return { ...frame, entries: [...frame.entries, { kind: "user", text }] };
    }
    case "modelCallStarted": {
      const { attempt } = event.value;
      const modelCall = {
        attempt,
        sequence,
        status: "under_way",
        streamedFrom: undefined,
      } as const;
      // Calls of an attempt whose turn was never written were never made.
      return { ...frame, modelCall, calls: [] };
    }
    case "text":
    case "reasoning":
      return amendModelCall(frame, (call) => ({
        ...call,
        streamedFrom: call.streamedFrom ?? sequence,
      }));
    case "textVoided":
      return amendModelCall(frame, (call) => ({ ...call, streamedFrom: undefined }));
    case "modelCallFailed": {
      const failure = event.value;
      return amendModelCall(frame, (call) => ({ ...call, status: failure }));
    }
    case "runClaimed":
      return amendModelCall(frame, (call) =>
        call.status === "under_way" ? { ...call, status: "abandoned" } : call,
      );
    case "modelTurn": {
      const turn = event.value;
      const entry = { kind: "turn", turn, calls: frame.calls } as const;
      return {
        ...frame,
        modelCall: undefined,
        turnTaken: true,
        entries: [...frame.entries, entry],
      };
    }
    case "toolCall": {
      const askedAtMs = envelope.time === undefined ? 0 : timestampMs(envelope.time);
      const call = { call: event.value, askedAtMs, approval: undefined, result: undefined };
      return { ...frame, calls: [...frame.calls, call] };
    }
    case "approval": {
      const { approval } = event.value;
      return amendCall(frame, approval?.call?.callId, (call) => ({ ...call, approval }));
    }
    case "toolResult": {
      const { result } = event.value;
      return amendCall(frame, result?.callId, (call) => ({ ...call, result }));
    }
    default:
      return frame;
  }
}

function openStep(frame: Frame, step: number): Frame {
  return { ...frame, step, stepOpen: true, modelCall: undefined, calls: [], turnTaken: false };
}

function amendModelCall(frame: Frame, amend: (call: ModelCall) => ModelCall): Frame {
  return frame.modelCall === undefined ? frame : { ...frame, modelCall: amend(frame.modelCall) };
}

function amendCall(frame: Frame, callId: string | undefined, amend: (call: Call) => Call): Frame {
  const calls = frame.calls.map((call) => (call.call.callId === callId ? amend(call) : call));
  const last = frame.entries.at(-1);
  const entries =
    last?.kind === "turn" ? [...frame.entries.slice(0, -1), { ...last, calls }] : frame.entries;
  return { ...frame, calls, entries };
}
