import type { InheritedState, RunClaimed, RunEvent } from "@reeve/contracts/run";
import { OwnerFate, Phase, RunStatus } from "@reeve/contracts/run";
import type { KindTable } from "@reeve/run/head/event-kinds";
import { applyToHead } from "@reeve/run/head/run-head";
import { applyToFrames } from "./apply-to-frames.ts";
import { applyToPlugins } from "../plugins/apply-to-plugins.ts";
import type { Ending, RunState } from "./run-state.ts";
import { UnknownEvent } from "./unknown-event.ts";
import { withProviderWait } from "./provider-wait.ts";
import { timeAfter } from "./worked-time.ts";

/**
 * Returns the state after one more event. Throws UnknownEvent for a kind that this version does not know: a newer version
 * wrote the log, and a worker that cannot fold the log must not continue the run.
 */
export function apply(state: RunState, envelope: RunEvent): RunState {
  const { event, sequence } = envelope;
  if (event.case === undefined) throw new UnknownEvent(sequence);
  const known: RunState = {
    ...state,
    head: applyToHead(state.head, envelope),
    worked: timeAfter(state.worked, envelope),
    idleClaims: isProgress[event.case] ? 0 : state.idleClaims,
    idleCrashes: isProgress[event.case] || isAnswer(event) ? 0 : state.idleCrashes,
  };
  const applied = applyToPlugins(applyToRun(applyToFrames(known, envelope), envelope), envelope);
  return withProviderWait(state, applied, envelope);
}

/** Returns the state after all of `events`. */
export function applyAll(state: RunState, events: readonly RunEvent[]): RunState {
  return events.reduce(apply, state);
}

function applyToRun(state: RunState, { event, phase }: RunEvent): RunState {
  switch (event.case) {
    case "runClaimed":
      return {
        ...state,
        idleClaims: state.idleClaims + 1,
        idleCrashes: state.idleCrashes + (followsCrash(event.value) ? 1 : 0),
      };
    case "error":
      // Without a plan, the run continues.
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
    case "mediaPrepared":
      return { ...state, media: event.value.agents };
    case "workflowContinued": {
      const { runId, isComplete } = event.value;
      return { ...state, inheritsFrom: isComplete ? undefined : runId };
    }
    case "todosChanged":
      return { ...state, todos: event.value.todos };
    case "toolResult": {
      const artifactId = event.value.result?.metadata?.offloadedArtifactId ?? "";
      return artifactId === ""
        ? state
        : { ...state, offloaded: new Set(state.offloaded).add(artifactId) };
    }
    case "runCreated":
      return event.value.inherited === undefined ? state : continued(state, event.value.inherited);
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
    case "approval":
    case "subtask":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case undefined:
      return state;
  }
}

/** Takes over the state of the run that this one continues; its conversation begins with the preparation. */
function continued(state: RunState, inherited: InheritedState): RunState {
  const { plan, todos, memory, artifactIds } = inherited;
  return {
    ...state,
    plan: plan.length === 0 ? undefined : plan,
    todos,
    memory: new Map(Object.entries(memory)),
    offloaded: new Set(artifactIds),
  };
}

function ending(state: RunState, more: Partial<Ending>): RunState {
  const begun = { status: RunStatus.COMPLETED, message: "", hasCost: false, hasTree: false };
  return { ...state, ending: { ...begun, ...state.ending, ...more } };
}

/** Whether the previous owner of a run crashed, as far as its next owner knows. */
function followsCrash({ previousOwner }: RunClaimed): boolean {
  return previousOwner === OwnerFate.UNSPECIFIED || previousOwner === OwnerFate.CRASHED;
}

/** Whether an event is a part of an answer. A run that kills each worker that streams is ended by its budget of model calls. */
function isAnswer(event: RunEvent["event"]): boolean {
  return event.case === "text" || event.case === "reasoning";
}

/**
 * Whether a kind of event shows that an owner made progress. Facts that every claim writes do not count, and neither does
 * text that never became a turn: otherwise a run that stops each of its workers would never end.
 */
const isProgress: KindTable = {
  runCreated: true,
  runClaimed: false,
  runParked: true,
  runPrepared: false,
  status: false,
  step: false,
  text: false,
  reasoning: false,
  textVoided: false,
  toolCall: true,
  toolCallStarted: false,
  toolResult: true,
  mcpProgress: true,
  approval: true,
  subtask: true,
  plan: true,
  context: true,
  usage: true,
  modelCallStarted: false,
  modelTurn: true,
  modelCallFailed: true,
  modelRetryDue: true,
  tokensCounted: true,
  clientCall: true,
  pluginsPinned: false,
  workflowPrepared: false,
  mediaPrepared: false,
  workflowContinued: false,
  mediaCallStarted: false,
  mediaCallEnded: true,
  remoteTask: false,
  pluginHookFinished: true,
  runEnding: false,
  messageSubmitted: true,
  messageInjected: false,
  memoryWritten: true,
  todosChanged: true,
  cancelRequested: true,
  budgetExceeded: true,
  error: true,
  costSummary: true,
  treeStored: true,
};
