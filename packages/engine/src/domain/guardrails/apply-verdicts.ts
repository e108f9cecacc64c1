import type {
  GuardVerdict,
  PluginHookFinished,
  RunEvent,
  TextRedaction,
} from "@reeve/contracts/run";
import { GuardTarget } from "@reeve/contracts/run";
import { isRefusal, nameOfGuard } from "@reeve/run/guardrails/guard-verdict";
import { redactMessages } from "@reeve/run/guardrails/redact-messages";
import { initialUnits, userUnit } from "../state/conversation.ts";
import type { Frame, Unit } from "../state/frame.ts";
import { plannerId, rootId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { frameOfEvent } from "../state/run-state.ts";
import { withResult } from "./guarded-call.ts";
import { redactedInput } from "./run-input.ts";
import { withAnswerVerdicts, workflowAnswer } from "./workflow-answer.ts";
import { unitsFrom, unitsOf, withNewest } from "../state/units.ts";

/** Changes what models read by the verdicts of guards. What happens to calls and to the run follows from the answer of the hook. */
export function applyVerdicts(
  state: RunState,
  envelope: RunEvent,
  finished: PluginHookFinished,
): RunState {
  const { guards } = finished;
  const [first] = guards;
  const frame = frameOfEvent(state, envelope);
  if (first === undefined || frame === undefined) return state;
  const redactions = guards.flatMap((each) => each.redactions);
  switch (first.target) {
    case GuardTarget.INPUT:
      if (redactions.length === 0) return state;
      return envelope.stepNumber === 0
        ? withInput(state, redactions)
        : withFrame(state, withMessages(frame, redactions));
    case GuardTarget.OUTPUT:
      return withFrame(state, withAnswer(state, frame, finished));
    case GuardTarget.RESULT:
      return withResult(state, frame, finished);
    default:
      return state;
  }
}

/** Replaces what the run was started with in the conversations that begin with it. */
function withInput(state: RunState, redactions: readonly TextRedaction[]): RunState {
  const { created, prepared } = state.head;
  if (created === undefined || prepared === undefined) return state;
  const given = redactedInput(created, redactions);
  const units = unitsFrom(initialUnits(given, prepared));
  const frames = new Map(state.frames);
  for (const id of [rootId, plannerId]) {
    const frame = frames.get(id);
    if (frame !== undefined) frames.set(id, { ...withWorkflowInput(frame, given.input), units });
  }
  return { ...state, frames };
}

function withWorkflowInput(frame: Frame, input: string): Frame {
  return frame.workflow === undefined
    ? frame
    : { ...frame, workflow: { ...frame.workflow, input } };
}

/** Replaces the newest messages of a frame. */
function withMessages(frame: Frame, redactions: readonly TextRedaction[]): Frame {
  const units = unitsOf(frame);
  const messages = newMessages(frame);
  const redacted = redactMessages(messages.map(asMessage), redactions);
  const replaced = new Map<Unit, Unit>(
    messages.map((unit, index) => {
      const { text = "", parts = [] } = redacted[index] ?? {};
      return [unit, userUnit({ text, parts }, unit.isInput)];
    }),
  );
  const given = withWorkflowInput(frame, redacted[0]?.text ?? "");
  return { ...given, units: unitsFrom(units.map((unit) => replaced.get(unit) ?? unit)) };
}

type UserUnit = Extract<Unit, { kind: "user" }>;

/** Returns the messages that a frame took up in its open step: those of people at the root, otherwise its task. */
export function newMessages(frame: Frame): readonly UserUnit[] {
  const ofUser = unitsOf(frame).filter((unit) => unit.kind === "user");
  if (frame.id !== rootId) return ofUser;
  return frame.injected === 0 ? [] : ofUser.slice(-frame.injected);
}

/** Returns a message of the user with its parts. */
export function asMessage({ text, parts = [] }: UserUnit) {
  return { text, parts: [...parts] };
}

function withAnswer(state: RunState, frame: Frame, finished: PluginHookFinished): Frame {
  const { workflow } = frame;
  if (workflow === undefined) return withRefusal(frame, finished.guards);
  const answer = workflowAnswer(state, frame);
  if (answer === undefined) return frame;
  return { ...frame, workflow: withAnswerVerdicts(workflow, answer, finished) };
}

function withRefusal(frame: Frame, guards: readonly GuardVerdict[]): Frame {
  const refusing = guards.find(isRefusal);
  const newest = frame.units.newest?.value;
  if (refusing === undefined || newest?.kind !== "turn" || !frame.hasTurn) return frame;
  const refusal = `${nameOfGuard(refusing)} refuses this answer: ${refusing.reason}`;
  return { ...frame, units: withNewest(frame.units, { ...newest, refusal }) };
}

function withFrame(state: RunState, frame: Frame): RunState {
  return state.frames.get(frame.id) === frame
    ? state
    : { ...state, frames: new Map(state.frames).set(frame.id, frame) };
}
