import type { RunEvent, StatusChanged } from "@reeve/contracts/run";
import { Phase, RunStatus } from "@reeve/contracts/run";
import { treeAfter } from "@reeve/run/tree/execution-tree";
import { applyToFrames } from "./apply-to-frames.ts";
import { charge } from "./ledger.ts";
import type { Ending, RunEnd, RunState } from "./run-state.ts";
import { UnknownEvent } from "./unknown-event.ts";
import { timeAfter } from "./worked-time.ts";

/**
 * The state after one more event. Throws UnknownEvent for a member that this version does not know: a newer one wrote the
 * log, and whoever cannot fold it must not go on with it.
 */
export function apply(state: RunState, event: RunEvent): RunState {
  const next = applyToFrames(state, event);
  return applyToRun(
    {
      ...next,
      sequence: event.sequence,
      spent: charge(next.spent, event),
      worked: timeAfter(state.worked, event),
      tree: treeAfter(state.tree, event),
      idleClaims: isProgress(event.event.case) ? 0 : state.idleClaims,
    },
    event,
  );
}

/** The state after all of `events`. */
export function applyAll(state: RunState, events: readonly RunEvent[]): RunState {
  return events.reduce(apply, state);
}

function applyToRun(state: RunState, { event, runId, sequence, phase }: RunEvent): RunState {
  switch (event.case) {
    case "runCreated":
      return { ...state, runId, created: event.value };
    case "runClaimed":
      return { ...state, claim: event.value, parked: false, idleClaims: state.idleClaims + 1 };
    case "runParked":
      return { ...state, parked: true };
    case "status":
      return applyStatus(state, event.value);
    case "error":
      // The run goes on without a plan.
      return phase === Phase.PLANNER
        ? state
        : ending(state, { status: RunStatus.ERROR, message: event.value.message });
    case "cancelRequested":
      return ending(state, { status: RunStatus.CANCELLED, message: event.value.reason });
    case "budgetExceeded":
      return { ...state, exceeded: event.value };
    case "costSummary":
      return ending(state, { hasCost: true });
    case "treeStored":
      return ending(state, { hasTree: true });
    case "plan":
      return { ...state, plan: event.value.steps };
    case "memoryWritten":
      return { ...state, memory: new Map(state.memory).set(event.value.key, event.value.value) };
    case "todosChanged":
      return { ...state, todos: event.value.todos };
    case "messageSubmitted":
      return { ...state, inbox: [...state.inbox, event.value] };
    case "messageInjected": {
      const taken = event.value.messageId;
      return { ...state, inbox: state.inbox.filter(({ messageId }) => messageId !== taken) };
    }
    case "toolResult": {
      const artifactId = event.value.result?.metadata?.offloadedArtifactId ?? "";
      return artifactId === ""
        ? state
        : { ...state, offloaded: new Set(state.offloaded).add(artifactId) };
    }
    case "runPrepared":
    case "text":
    case "reasoning":
    case "textVoided":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "modelRetryDue":
    case "usage":
    case "step":
    case "toolCall":
    case "toolCallStarted":
    case "mcpProgress":
    case "approval":
    case "context":
    case "subtask":
      return state;
    case undefined:
      throw new UnknownEvent(sequence);
  }
}

function ending(state: RunState, more: Partial<Ending>): RunState {
  const begun = { status: RunStatus.COMPLETED, message: "", hasCost: false, hasTree: false };
  return { ...state, ending: { ...begun, ...state.ending, ...more } };
}

/**
 * Whether an event shows that an owner got somewhere. What a claim brings along by itself does not count, nor do words that
 * never came to a turn, or a run that kills each of its workers would never be given up.
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
  "text",
  "reasoning",
  "textVoided",
  "modelCallStarted",
  "toolCallStarted",
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
