import type {
  MediaCallEnded,
  ModelCallFailed,
  RunEvent,
  RunPrepared,
  SubtaskChanged,
} from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import { reachedProvider } from "@reeve/run/head/reached-provider";
import { applyToFrame } from "./apply-to-frame.ts";
import { chargeDelegates, withUsage } from "../delegates/delegate-usage.ts";
import { openTaskOf } from "../delegates/open-remote-tasks.ts";
import { billableForMedia } from "../media/media-call.ts";
import { initialCompaction, initialUnits } from "./conversation.ts";
import type { Frame } from "./frame.ts";
import { newFrame, plannerId, rootId } from "./frame.ts";
import type { RunState } from "./run-state.ts";
import { frameOfEvent } from "./run-state.ts";
import { noUnits, unitsFrom } from "./units.ts";
import { outcomeOf, taskKey } from "../subtasks/outcome.ts";
import { openSubtask } from "../subtasks/open-subtask.ts";
import { plannerTools } from "../planner/planner-tools.ts";
import { withWorkflow } from "../workflow/workflow-of.ts";

/** Applies one event to the frames of a run: most concern one of them, and the delegates for which it works. */
export function applyToFrames(state: RunState, envelope: RunEvent): RunState {
  return chargeDelegates(applyToOwn(state, envelope), envelope);
}

function applyToOwn(state: RunState, envelope: RunEvent): RunState {
  const { event } = envelope;
  switch (event.case) {
    case "runPrepared":
      return prepared(state, event.value);
    case "subtask":
      return event.value.ended
        ? subtaskEnded(state, event.value)
        : subtaskBegan(state, envelope, event.value);
    case "runClaimed":
      return abandoned(state, envelope);
    case "modelCallFailed":
      return failed(state, envelope, event.value);
    case "approval":
      // The service that records a decision does not know the frame of the call.
      return toOwner(state, envelope, event.value.approval?.call?.callId);
    case "clientCall":
      // Neither does the gateway that records an answer.
      return toOwner(state, envelope, event.value.callId);
    case "step":
      return remembered(toOne(state, envelope), envelope);
    case "toolResult":
      return withoutSubtasks(toOne(state, envelope), event.value.result?.callId);
    case "plan":
      return { ...state, frames: without(state, ({ id }) => id === plannerId) };
    case "error":
      return envelope.phase === Phase.PLANNER
        ? { ...state, frames: without(state, ({ id }) => id === plannerId) }
        : state;
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCall":
    case "toolCallStarted":
    case "mcpProgress":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelRetryDue":
    case "tokensCounted":
    case "remoteTask":
    case "messageInjected":
    case "mediaCallStarted":
      return toOne(state, envelope);
    case "mediaCallEnded":
      return mediaEnded(state, envelope, event.value);
    case "runCreated":
    case "runParked":
    case "status":
    case "messageSubmitted":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "costSummary":
    case "treeStored":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "pluginHookFinished":
    case "runEnding":
    case undefined:
      return state;
  }
}

/** Applies an event to the frame that has the call. */
function toOwner(state: RunState, envelope: RunEvent, callId: string | undefined): RunState {
  const owner = [...state.frames.values()].find(({ calls }) =>
    calls.some(({ call }) => call.callId === callId),
  );
  return owner === undefined ? state : withFrame(state, applyToFrame(owner, envelope));
}

function toOne(state: RunState, envelope: RunEvent): RunState {
  const frame = frameOfEvent(state, envelope);
  if (frame === undefined) return state;
  const after = applyToFrame(frame, envelope);
  return after === frame ? state : withFrame(state, after);
}

/** Opens the root, and the planner if the agent plans and the run has no plan yet. */
function prepared(state: RunState, value: RunPrepared): RunState {
  const { created } = state.head;
  const tools = new Map(value.tools.map((tool) => [tool.name, tool]));
  const initial = created === undefined ? [] : initialUnits(created, value);
  const units = unitsFrom(initial);
  const run = withWorkflow(created, created?.spec, created?.input ?? "", tools);
  const opened = newFrame({ id: rootId, depth: 0, subtask: undefined, ...run, units });
  const root = { ...opened, compaction: initialCompaction(initial, created) };
  const frames = new Map([[rootId, root]]);
  const isPlanned = state.plan !== undefined || created?.inherited?.isPlanned === true;
  const plans = created?.spec?.planningEnabled === true && run.workflow === undefined;
  if (plans && !isPlanned) {
    frames.set(plannerId, newFrame({ ...opened, id: plannerId, tools: plannerTools(value) }));
  }
  return { ...state, frames };
}

function subtaskBegan(state: RunState, envelope: RunEvent, began: SubtaskChanged): RunState {
  const parent = state.frames.get(envelope.parentId);
  if (parent === undefined) return state;
  const child = openSubtask(state, parent, began);
  const caller = applyToFrame(parent, envelope);
  return child === undefined ? state : withFrame(withFrame(state, caller), child);
}

function subtaskEnded(state: RunState, ended: SubtaskChanged): RunState {
  const frame = state.frames.get(ended.subtaskId);
  if (frame === undefined) return state;
  const { outcome, content } = outcomeOf(frame, ended);
  // Only the outcome is still needed.
  const over = { ...frame, outcome, units: noUnits, calls: [], modelCall: undefined };
  // A subtask may end while it calls a model or generates media, which the provider may bill.
  const charged = withLost(withFrame(state, over), frame, {
    lostUsd: billableUsd(frame),
    unansweredCalls: 0,
  });
  const caller = charged.frames.get(frame.subtask?.parent ?? "");
  if (caller === undefined) return charged;
  const pendingMemory = new Map(caller.pendingMemory).set(taskKey(frame.id), content);
  return withFrame(charged, { ...caller, pendingMemory });
}

/** Returns what providers may bill for the calls of models and the generations in progress of a frame at most, in US dollars. */
function billableUsd(frame: Frame): number {
  const { modelCall } = frame;
  const ofModel = modelCall?.status === "in_progress" ? modelCall.reservedUsd : 0;
  return ofModel + billableForMedia(frame);
}

/** Shares the outcomes of a step's subtasks with the whole run once the step has ended. */
function remembered(state: RunState, { parentId }: RunEvent): RunState {
  const frame = state.frames.get(parentId);
  if (frame === undefined || frame.stepOpen || frame.pendingMemory.size === 0) return state;
  const memory = new Map([...state.memory, ...frame.pendingMemory]);
  // The answer of a workflow still follows from the whole answers of its nodes.
  if (frame.workflow !== undefined) return { ...state, memory };
  return { ...withFrame(state, { ...frame, pendingMemory: new Map() }), memory };
}

/** Charges the reservations of the model calls that were lost with their owner: their usage will never be known. */
function abandoned(state: RunState, envelope: RunEvent): RunState {
  const before = [...state.frames.values()];
  const frames = new Map(before.map((frame) => [frame.id, applyToFrame(frame, envelope)]));
  return before.reduce<RunState>(
    (after, frame) => withLost(after, frame, { lostUsd: billableUsd(frame), unansweredCalls: 0 }),
    { ...state, frames },
  );
}

/** Charges the reservation of a failed call that had begun: the provider may bill it, and never reports its usage. */
function failed(state: RunState, envelope: RunEvent, failure: ModelCallFailed): RunState {
  const frame = frameOfEvent(state, envelope);
  const call = frame?.modelCall;
  const hasBegun = failure.answerBegan || call?.streamedFrom !== undefined;
  const isRepeated = failure.retryDelay !== undefined || failure.fallbackModel !== "";
  return withLost(toOne(state, envelope), frame, {
    lostUsd: hasBegun ? (call?.reservedUsd ?? 0) : 0,
    unansweredCalls: reachedProvider(failure) && isRepeated && !hasBegun ? 1 : 0,
  });
}

/** Charges the reservation of a failed generation that the provider may bill, unless its cost is in the ledger. */
function mediaEnded(state: RunState, envelope: RunEvent, ended: MediaCallEnded): RunState {
  const frame = frameOfEvent(state, envelope);
  const call = frame?.calls.find((each) => each.call.callId === ended.callId);
  const isLost = ended.mayBeBilled && ended.costUsd === undefined;
  const lostUsd = isLost ? (call?.media?.reservedUsd ?? 0) : 0;
  return withLost(toOne(state, envelope), frame, { lostUsd, unansweredCalls: 0 });
}

/** What model calls without an answer may have cost, and those of them that do not count as calls. */
type Lost = Pick<RunState, "lostUsd" | "unansweredCalls">;

/** Charges a model call that gave no answer to the run, and to the delegates that its frame works for. */
function withLost(state: RunState, frame: Frame | undefined, lost: Lost): RunState {
  if (lost.lostUsd === 0 && lost.unansweredCalls === 0) return state;
  const after = { ...state, ...sum(state, lost) };
  return frame === undefined
    ? after
    : withUsage(after, frame, (used) => ({ ...used, ...sum(used, lost) }));
}

function sum(a: Lost, b: Lost): Lost {
  return {
    lostUsd: a.lostUsd + b.lostUsd,
    unansweredCalls: a.unansweredCalls + b.unansweredCalls,
  };
}

function withoutSubtasks(state: RunState, callId: string | undefined): RunState {
  const isOfCall = ({ subtask }: Frame) => subtask !== undefined && subtask.callId === callId;
  const leaving = [...state.frames.values()].filter(isOfCall);
  if (leaving.length === 0) return state;
  const left = leaving.flatMap((frame) => openTaskOf(state, frame) ?? []);
  const leftTasks = left.length === 0 ? state.leftTasks : [...state.leftTasks, ...left];
  return { ...state, leftTasks, frames: without(state, isOfCall) };
}

function without({ frames }: RunState, leaves: (frame: Frame) => boolean): RunState["frames"] {
  return new Map([...frames].filter(([, frame]) => !leaves(frame)));
}

function withFrame(state: RunState, frame: Frame): RunState {
  return { ...state, frames: new Map(state.frames).set(frame.id, frame) };
}
