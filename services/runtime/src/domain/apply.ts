import type { RunEvent, StatusChanged, Usage } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { applyToFrame } from "./apply-to-frame.ts";
import type { RunEnd, RunState, Spent } from "./run-state.ts";
import { UnknownEvent } from "./unknown-event.ts";

/**
 * The state after one more event. Throws UnknownEvent for a member that this version does not know: a newer one wrote the
 * log, and whoever cannot fold it must not go on with it.
 */
export function apply(state: RunState, event: RunEvent): RunState {
  const frame = applyToFrame(state.frame, event);
  return applyToRun({ ...state, sequence: event.sequence, frame }, event);
}

/** The state after all of `events`. */
export function applyAll(state: RunState, events: readonly RunEvent[]): RunState {
  return events.reduce(apply, state);
}

function applyToRun(state: RunState, { event, runId, sequence }: RunEvent): RunState {
  if (state.idleClaims > 0 && isProgress(event.case)) state = { ...state, idleClaims: 0 };
  switch (event.case) {
    case "runCreated":
      return { ...state, runId, created: event.value };
    case "runClaimed":
      return { ...state, claim: event.value, parked: false, idleClaims: state.idleClaims + 1 };
    case "runParked":
      return { ...state, parked: true };
    case "runPrepared":
      return {
        ...state,
        prepared: event.value,
        tools: new Map(event.value.tools.map((tool) => [tool.name, tool])),
      };
    case "status":
      return applyStatus(state, event.value);
    case "error":
      return { ...state, error: event.value };
    case "modelCallStarted":
      return { ...state, spent: { ...state.spent, llmCalls: state.spent.llmCalls + 1 } };
    case "usage":
      return { ...state, spent: charge(state.spent, event.value) };
    case "toolCall":
      return { ...state, spent: { ...state.spent, toolCalls: state.spent.toolCalls + 1 } };
    case "messageSubmitted":
      return { ...state, inbox: [...state.inbox, event.value] };
    case "messageInjected": {
      const taken = event.value.messageId;
      return { ...state, inbox: state.inbox.filter(({ messageId }) => messageId !== taken) };
    }
    case "text":
    case "reasoning":
    case "textVoided":
    case "modelTurn":
    case "modelCallFailed":
    case "step":
    case "toolResult":
    case "mcpProgress":
    case "approval":
    case "cancelRequested":
    case "toolCallStarted":
    case "memoryWritten":
    case "todosChanged":
    case "treeStored":
    case "costSummary":
    case "budgetExceeded":
    case "context":
    case "plan":
    case "subtask":
      return state;
    case undefined:
      throw new UnknownEvent(sequence);
  }
}

/**
 * Whether an event shows that an owner got somewhere. What a claim brings along by itself does not count, or a run that
 * kills each of its workers would never be given up.
 */
function isProgress(kind: RunEvent["event"]["case"]): boolean {
  return kind !== undefined && !broughtAlong.has(kind);
}

const broughtAlong: ReadonlySet<string> = new Set([
  "runClaimed",
  "runPrepared",
  "status",
  "step",
  "messageInjected",
  "textVoided",
  "modelCallStarted",
]);

function applyStatus(state: RunState, { status }: StatusChanged): RunState {
  const end = ends.get(status);
  return end === undefined ? state : { ...state, end };
}

const ends: ReadonlyMap<RunStatus, RunEnd> = new Map([
  [RunStatus.COMPLETED, "completed"],
  [RunStatus.ERROR, "error"],
  [RunStatus.CANCELLED, "cancelled"],
]);

function charge(spent: Spent, usage: Usage): Spent {
  return {
    ...spent,
    inputTokens: spent.inputTokens + usage.inputTokens,
    outputTokens: spent.outputTokens + usage.outputTokens,
    costUsd:
      spent.costUsd === undefined || usage.costUsd === undefined
        ? undefined
        : spent.costUsd + usage.costUsd,
  };
}
