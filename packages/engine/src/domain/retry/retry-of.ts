import { create, toBinary } from "@bufbuild/protobuf";
import type { InheritedState, RunCreated, RunEvent } from "@reeve/contracts/run";
import {
  IncompleteReason,
  InheritedStateSchema,
  Phase,
  RunCreatedSchema,
  RunOriginSchema,
} from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { workspaceIdOf } from "@reeve/contracts/rules/workspace-id";
import { oldestFirst } from "@reeve/run/head/linked";
import {
  inputWithoutFiles,
  isRequestRefused,
  messagesWithoutFiles,
} from "@reeve/run/parts/without-files";
import { fitHistory } from "@reeve/run/thread/history/fit-history";
import { historyGuards } from "@reeve/run/thread/history/history-guards";
import { turnHistory, userMessage } from "@reeve/run/thread/history/turn-history";
import { isBudgetRefusal } from "../budget/over-budget.ts";
import { isResultOf, unpassedCalls } from "../guardrails/unpassed-calls.ts";
import { fitMemory } from "./fit-memory.ts";
import { reasonOfUnit } from "../incomplete-answer.ts";
import { pastUnits } from "../state/conversation.ts";
import type { Unit } from "../state/frame.ts";
import { plannerId, rootId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { unitsOf } from "../state/units.ts";

const unknownOutcome =
  "the run failed before this call had a result; its outcome is unknown: look at its effect before you call again";
const notMade = "the run failed before this call was made; it had no effect";

/** Bytes of the first event of a run: its batch fits in a message of the bus, and in the log of a thread. */
const maxCreatedBytes = 900 * 1024;

/**
 * Returns the first fact of a run that continues a failed one from its last good state: the conversation as its model would have
 * read it next, without an answer that failed or was incomplete, the plan, the todos, and the shared memory. A call without a
 * result gets one that says so, and so does one that a budget refused: the new run has a whole budget. Entries of the memory and the oldest results are cut where the fact would be too large.
 */
export function retryOf(
  state: RunState,
  created: RunCreated,
  allEvents: readonly RunEvent[],
): RunCreated {
  const { runId } = state.head;
  const before = created.inherited;
  const compaction = compactionOf(state);
  const events = allEvents.filter((each) => !isRefusedByBudget(each));
  const inherited = create(InheritedStateSchema, {
    plan: [...(state.plan ?? [])],
    todos: [...state.todos],
    artifactIds: [...artifactsOf(state)],
    runIds: [...(before?.runIds ?? []), runId],
    isPlanned: before?.isPlanned === true || isPlanned(state),
    ...(compaction && { summary: compaction.summary, summarizedRunId: compaction.runId }),
  });
  // The same files would be refused again.
  const isRefused = isRequestRefused(allEvents);
  const derived: RunCreated = {
    ...created,
    ...(isRefused && inputWithoutFiles(created)),
    origin: create(RunOriginSchema, { runId, sequence: lastGood(events) }),
    inherited,
    workspaceId: workspaceIdOf(runId, created),
    earlierRequesters: [...requestersOf(state, created)],
  };
  const roomIn = () => maxCreatedBytes - toBinary(RunCreatedSchema, derived).length;
  // The conversation matters more to the model than what it may look up.
  inherited.memory = fitMemory(memoryOf(state), roomIn() / 2);
  const own = messagesOf(state, before, events, compaction);
  const messages = isRefused ? messagesWithoutFiles(own) : own;
  inherited.messages = [...fitHistory(messages, roomIn())];
  return derived;
}

/** Returns who asked for what the run did: they do not decide on it because another person continued it. */
function requestersOf({ head }: RunState, created: RunCreated): ReadonlySet<string> {
  const { startedBy, earlierRequesters } = created;
  const senders = oldestFirst(head.messages).map(({ submittedBy }) => submittedBy);
  const subjects = [startedBy, ...earlierRequesters, ...senders];
  return new Set(subjects.filter((subject) => subject !== ""));
}

/** Whether the run needs no planner: it has a plan, or continues without one. */
function isPlanned({ head, frames }: RunState): boolean {
  return head.prepared !== undefined && !frames.has(plannerId);
}

/** Returns the shared memory, with the results of subtasks that the open steps would have shared at their ends. */
function memoryOf(state: RunState): ReadonlyMap<string, string> {
  const unpassed = unpassedCalls(state);
  const pending = [...state.frames.values()].flatMap((frame) => [...frame.pendingMemory]);
  return new Map([...state.memory, ...pending.filter(([key]) => !isResultOf(key, unpassed))]);
}

/** Returns the artifacts of the results that the new run may read. */
function artifactsOf(state: RunState): readonly string[] {
  const unpassed = unpassedCalls(state).map(
    ({ result }) => result?.metadata?.offloadedArtifactId ?? "",
  );
  return [...state.offloaded].filter((id) => !unpassed.includes(id));
}

/** What a summary has replaced in the conversation of the root. */
interface Compacted {
  readonly summary: string;
  /** How many units after the input are removed. */
  readonly removed: number;
  /** The message of the user among them that stays. */
  readonly kept: Unit | undefined;
  /** The run with whose turn the part of the thread ends that the summary covers. */
  readonly runId: string;
}

/** Returns the compaction of the root. Undefined: there is none, or it reaches only into what came before the input. */
function compactionOf({ head, frames }: RunState): Compacted | undefined {
  const root = frames.get(rootId);
  const before = inheritedSummary(head.created?.inherited);
  // The run failed before it was prepared.
  if (root === undefined) return before;
  const { compaction } = root;
  const units = unitsOf(root);
  const own = units.findIndex((unit) => unit.kind === "user" && unit.isInput) + 1;
  if (compaction === undefined) return undefined;
  const { removed, kept = -1, summary } = compaction;
  // What it removed of the thread since then is in the new run's history again.
  if (removed < own) return before && { ...before, summary };
  const isBefore = before !== undefined && summary === before.summary && removed === own;
  return {
    summary,
    removed: removed - own,
    kept: kept < own ? undefined : units[kept],
    runId: isBefore ? before.runId : head.runId,
  };
}

/** Returns the compaction with which the run began. */
function inheritedSummary(inherited: InheritedState | undefined): Compacted | undefined {
  if (inherited?.summary === undefined) return undefined;
  const { summary, summarizedRunId, runIds } = inherited;
  const runId = summarizedRunId || (runIds.at(-1) ?? "");
  return { summary, removed: 0, kept: undefined, runId };
}

/** Returns the conversation after the input. */
function messagesOf(
  state: RunState,
  before: InheritedState | undefined,
  events: readonly RunEvent[],
  { removed = 0, kept = undefined as Unit | undefined }: Partial<Compacted> = {},
): readonly HistoryMessage[] {
  const earlier = pastUnits(before?.messages ?? []);
  const own = turnHistory(afterUnits(events, removed - earlier.length), {
    unfinished: (callId) => (isStarted(state, callId) ? unknownOutcome : notMade),
    guards: historyGuards(events),
    // The guards of the new run look at them before its first step.
    keepsUnchecked: true,
  });
  const pending = [...state.head.pendingMessages.values()];
  const submitted = pending.map(({ message }) => userMessage(message?.text ?? "", message?.parts));
  const answered = submitted.length > 0 && hasAnswered(state) ? own : withoutLastAnswer(own);
  const units = [...(kept === undefined ? [] : [kept]), ...earlier.slice(removed)];
  return [...units.flatMap(historyOf), ...answered, ...submitted];
}

/** Returns the events after the input, and after those that made the first `count` units of the root. */
function afterUnits(events: readonly RunEvent[], count: number): readonly RunEvent[] {
  let left = count;
  let start = 1;
  for (const [index, { event, parentId, phase }] of events.entries()) {
    if (left <= 0) break;
    if (parentId !== rootId || phase === Phase.PLANNER) continue;
    if (event.case !== "modelTurn" && event.case !== "messageInjected") continue;
    left--;
    start = index + 1;
  }
  return events.slice(start);
}

/** Whether a call of the root may have had an effect. Calls of earlier steps have their results. */
function isStarted({ frames }: RunState, callId: string): boolean {
  const call = frames.get(rootId)?.calls.find((each) => each.call.callId === callId);
  return call?.startedAtMs !== undefined;
}

/** Whether the last turn of the root is a whole answer. */
function hasAnswered({ frames }: RunState): boolean {
  const newest = frames.get(rootId)?.units.newest?.value;
  return (
    newest?.kind === "turn" &&
    newest.calls.length === 0 &&
    reasonOfUnit(newest) === IncompleteReason.UNSPECIFIED
  );
}

/** The run answers again: an answer at the end was filtered, cut off, or broken. */
function withoutLastAnswer(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  const end = messages.findLastIndex(({ message }) => message.case !== "assistant");
  return messages.slice(0, end + 1);
}

/** Whether a call was not made because a budget of the run was exceeded. */
function isRefusedByBudget({ event }: RunEvent): boolean {
  if (event.case !== "toolResult" || event.value.result === undefined) return false;
  const { isError, content } = event.value.result;
  return isError && isBudgetRefusal(content);
}

const inheritedKinds: ReadonlySet<unknown> = new Set([
  "runCreated",
  "messageSubmitted",
  "toolResult",
  "plan",
]);

/** Returns the sequence of the last event that is a part of the inherited state. */
function lastGood(events: readonly RunEvent[]): number {
  const last = events.findLast(({ event }) => inheritedKinds.has(event.case));
  return last?.sequence ?? 1;
}

function historyOf(unit: Unit): readonly HistoryMessage[] {
  if (unit.kind === "past") return unit.messages;
  return unit.kind === "user" ? [userMessage(unit.text, unit.parts)] : [];
}
