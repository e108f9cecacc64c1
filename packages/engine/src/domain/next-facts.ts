import { endRun, failRun } from "./end-run.ts";
import { maxIdleClaims, maxIdleCrashes } from "./budget/limits.ts";
import { endOverBudget } from "./budget/over-budget.ts";
import { refusedCalls } from "./budget/refused-calls.ts";
import type { Fact } from "./state/fact.ts";
import { fact } from "./state/fact.ts";
import type { Frame } from "./state/frame.ts";
import { scopeOf } from "./state/frame.ts";
import { modelCallFacts } from "./model/model-call-facts.ts";
import { nextStep } from "./next-step.ts";
import { awaitedStart } from "./plugins/hook-points.ts";
import { afterRunEndHooks, stopByPlugin } from "./plugins/before-run-end.ts";
import { permissionOf } from "./calls/call-permission.ts";
import { mediaKindOf } from "@reeve/agent/media/media-kinds";
import { callsInProgress, startableCalls } from "./calls/outgoing-calls.ts";
import { restartMedia, startMedia } from "./media/start-media.ts";
import type { RunState } from "./state/run-state.ts";
import { hasEnded, liveFrames, rootOf } from "./state/run-state.ts";
import type { RefusalNow } from "./calls/refusal-now.ts";
import { refusesNothing } from "./calls/refusal-now.ts";
import { turnFacts } from "./calls/turn-facts.ts";
import { workflowFacts } from "./workflow/workflow-facts.ts";

/**
 * Returns the facts that follow from `state` without an effect. Apply them and call it again, until it returns none: then
 * only effects or external facts can continue the run. What the operator's policy of now says of calls that start subtasks is given.
 */
export function nextFacts(
  state: RunState,
  nowMs: number,
  refusalNow: RefusalNow = refusesNothing,
): readonly Fact[] {
  if (hasEnded(state) || state.head.created === undefined || state.head.claim === undefined)
    return [];
  // The facts of an end are one batch. A log that holds only some of them still gets the others.
  if (state.ending !== undefined) return endRun(state, state.ending.status, state.ending.message);
  if (state.exceeded !== undefined) return endOverBudget(state, state.exceeded);
  if (state.idleCrashes > maxIdleCrashes || state.idleClaims > maxIdleClaims) {
    return workerLost(state);
  }
  if (state.head.prepared === undefined) return [];
  return afterRunEndHooks(state, ofRun(state, nowMs, refusalNow));
}

function ofRun(state: RunState, nowMs: number, refusalNow: RefusalNow): readonly Fact[] {
  const stopped = stopByPlugin(state);
  if (stopped.length > 0) return stopped;
  if (awaitedStart(state) !== undefined) return [];
  const refused = refusedCalls(state, nowMs);
  if (refused.length > 0) return refused;
  for (const frame of liveFrames(state)) {
    const facts = ofFrame(state, frame, nowMs, refusalNow);
    if (facts.length > 0) return facts;
  }
  const repeated = restartMedia(state, callsInProgress(state), nowMs);
  return repeated.length > 0 ? repeated : startedCalls(state, nowMs);
}

/** Returns the starts of the calls that may start now. Of those that generate media one, because the cost of each limits the next. */
function startedCalls(state: RunState, nowMs: number): readonly Fact[] {
  const startable = startableCalls(state);
  const generating = startable.find(({ tool }) => mediaKindOf(tool) !== undefined);
  return startable
    .filter((each) => each === generating || mediaKindOf(each.tool) === undefined)
    .flatMap((outgoing) => {
      const { frame, call, tool } = outgoing;
      const { callId } = call.call;
      const permission = permissionOf(state, frame, tool, call);
      const value = { callId, ...(permission && { permission }) };
      const started = fact(scopeOf(frame), { case: "toolCallStarted", value });
      const media = startMedia(state, outgoing, 1, nowMs);
      const isRefused = media.some(({ event }) => event.case === "toolResult");
      return isRefused ? media : [started, ...media];
    });
}

function ofFrame(
  state: RunState,
  frame: Frame,
  nowMs: number,
  refusalNow: RefusalNow,
): readonly Fact[] {
  if (!frame.stepOpen) return nextStep(state, frame, nowMs);
  if (frame.workflow !== undefined) {
    return workflowFacts(state, frame, frame.workflow, { nowMs, refusalNow });
  }
  return frame.hasTurn
    ? turnFacts(state, frame, nowMs, refusalNow)
    : modelCallFacts(state, frame, nowMs);
}

function workerLost(state: RunState): readonly Fact[] {
  const message = `${state.idleClaims} workers in a row claimed the run without progress; see their logs`;
  return failRun(state, scopeOf(rootOf(state)), "worker_lost", message);
}
