import { createHash } from "node:crypto";
import { create, toJson } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import {
  ExecutionTreeSchema,
  TurnEndedSchema,
  TurnIncompleteReason,
} from "@reeve/contracts/thread";
import type { RunHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { requiredDispatch } from "@reeve/run/head/ownership";
import { turnEnded } from "@reeve/run/thread/turn-ended";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { callsToRelease, nextEffects, openWaits } from "../../src/domain/next-effects.ts";
import { unitsOf } from "../../src/domain/state/units.ts";
import { apply } from "../../src/domain/state/apply.ts";
import type { Frame } from "../../src/domain/state/frame.ts";
import type { RunState } from "../../src/domain/state/run-state.ts";
import { initialState } from "../../src/domain/state/run-state.ts";

/** What a history folds to: everything at its end, and a digest of everything after each of its events. */
export interface HistoryViews {
  readonly end: Views;
  readonly digests: readonly string[];
}

type Views = Readonly<Record<string, unknown>>;

/** Returns what each view of a run shows, in a form that does not depend on how the state is represented. */
export function viewsOf(events: readonly RunEvent[]): HistoryViews {
  let state = initialState;
  let end: Views = {};
  const digests = events.map((event, index) => {
    state = apply(state, event);
    const thread = ofThread(events.slice(0, index + 1));
    end = { ...ofHead(state.head), ...ofLoop(state), ...thread };
    return createHash("sha256")
      .update(JSON.stringify(canonical(end)))
      .digest("hex")
      .slice(0, 16);
  });
  return { end: canonical(end) as Views, digests };
}

function ofHead(head: RunHead): Views {
  return {
    run: toJson(RunSchema, {
      ...runOf(head),
      // A view of its own.
      plan: [],
      // What follows from other views: the calls and approvals, what was used, and the tree.
      waitingFor: [],
      spentUsd: undefined,
      failedSubtasks: undefined,
    }),
    used: head.spent,
    tree: toJson(ExecutionTreeSchema, treeOf(head.tree)),
    outstandingCalls: [...head.outstandingCalls],
    pendingMessages: [...head.pendingMessages.keys()],
    requiredDispatch: requiredDispatch(head.runId, head) ?? null,
  };
}

function ofLoop(state: RunState): Views {
  return {
    effects: nextEffects(state).map(({ kind, id, frame }) => ({ kind, id, frame })),
    waits: openWaits(state),
    callsToRelease: callsToRelease(state).map(({ call }) => call.callId),
    frames: [...state.frames.values()].map(ofFrame),
    idleClaims: state.idleClaims,
    workedMs: state.worked.pastMs,
    lostUsd: state.lostUsd,
    plan: state.plan ?? null,
    memory: [...state.memory],
    todos: state.todos.map(({ text, status }) => ({ text, status })),
  };
}

function ofFrame(frame: Frame): Views {
  const { id, depth, step, stepOpen, compaction, calls, outcome } = frame;
  return {
    id,
    depth,
    step,
    stepOpen,
    units: unitsOf(frame).map(({ kind }) => kind),
    compaction: compaction ?? null,
    calls: calls.map(({ call, result }) => ({ id: call.callId, result: result?.content ?? null })),
    outcome: outcome?.kind ?? null,
  };
}

function ofThread(events: readonly RunEvent[]): Views {
  const turn = create(TurnEndedSchema, turnEnded("run_test", events));
  // The view of the run has it.
  turn.incompleteReason = TurnIncompleteReason.UNSPECIFIED;
  // Only the next run of the thread reads the notes of earlier turns.
  for (const { message } of turn.messages) {
    if (message.case === "assistant") message.value.advisory = "";
  }
  return { turn: toJson(TurnEndedSchema, turn) };
}

/** Returns the same JSON with the keys of every object in alphabetical order, so that the order of fields does not matter. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const inner = new Map(Object.entries(value).filter(([, field]) => field !== undefined));
  return Object.fromEntries(
    [...inner.keys()].toSorted().map((key) => [key, canonical(inner.get(key))]),
  );
}
