import { toBinary } from "@bufbuild/protobuf";
import { mediaKindOf } from "@reeve/agent/media/media-kinds";
import { isOfPlugin } from "@reeve/agent/plugins/plugin-tools";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { RefusalNow } from "./calls/refusal-now.ts";
import { apply } from "./state/apply.ts";
import { nextFacts } from "./next-facts.ts";
import { withinBounds } from "./plugins/within-bounds.ts";
import type { Fact } from "./state/fact.ts";
import { stamp } from "./state/fact.ts";
import { withLatestApproval } from "./calls/review/review-call.ts";
import { withdrawQuestions } from "./calls/questions/questions.ts";
import type { RunState } from "./state/run-state.ts";
import { hasEnded } from "./state/run-state.ts";
import { without } from "./state/worked-time.ts";

/** The events of a batch with their sequences, and the state after them. */
export interface FactBatch {
  readonly events: readonly RunEvent[];
  readonly state: RunState;
  /** Whether the batch includes all facts that follow. */
  readonly isComplete: boolean;
}

/** Which of the facts that follow a batch includes. */
export interface BatchLimits {
  /** The batch includes all given facts, and as many of those that follow as fit. Default: no limit. */
  readonly maxBytes?: number;
  /** The batch ends before a call of a model, or of a tool of a plugin, that follows: an owner that drains makes none. Default: false. */
  readonly stopsBeforeAnswers?: boolean;
  /** How long the owner stood still since its last event. The first event of the batch records it. Default: 0. */
  readonly standstillMs?: number;
  /** What the operator's policy of now refuses. Default: nothing. */
  readonly refusalNow?: RefusalNow;
}

/**
 * Builds the batch of `facts` and of everything that follows from them without an effect, so that facts that are known
 * together are appended together. Without `facts`, builds the batch of what follows from `state`. Nothing follows a terminal
 * status. Facts beyond the limits follow from the returned state.
 */
export function buildBatch(
  state: RunState,
  facts: readonly Fact[],
  nowMs: number,
  {
    maxBytes = Infinity,
    stopsBeforeAnswers = false,
    standstillMs = 0,
    refusalNow,
  }: BatchLimits = {},
): FactBatch {
  const events: RunEvent[] = [];
  let room = maxBytes;
  const moved =
    standstillMs === 0 ? state : { ...state, worked: without(state.worked, standstillMs) };
  let pending = facts.length > 0 ? facts : nextFacts(moved, nowMs, refusalNow);
  let isGiven = facts.length > 0;
  while (pending.length > 0 && !hasEnded(state)) {
    for (const given of pending) {
      const fact = withinBounds(state, given);
      if (stopsBeforeAnswers && !isGiven && awaitsAnswer(state, fact)) {
        return { events, state, isComplete: true };
      }
      for (const placed of [
        ...withdrawQuestions(state, fact),
        ...withLatestApproval(state, fact),
      ]) {
        if (hasEnded(state)) break;
        const event = stamp(state.head.runId, state.head.lastSequence + 1, nowMs, placed);
        if (events.length === 0 && standstillMs > 0)
          event.standstill = durationFromMs(Math.round(standstillMs));
        // The size is computed only if it is limited.
        if (room !== Infinity) room -= toBinary(RunEventSchema, event).length;
        if (room < 0 && !isGiven && events.length > 0) return { events, state, isComplete: false };
        events.push(event);
        state = apply(state, event);
      }
    }
    isGiven = false;
    pending = nextFacts(state, nowMs, refusalNow);
  }
  return { events, state, isComplete: true };
}

/** Whether a fact starts what only its owner can finish. A toolhost finishes its calls for any owner. */
function awaitsAnswer({ frames }: RunState, { event }: Fact): boolean {
  if (event.case === "modelCallStarted" || event.case === "mediaCallStarted") return true;
  if (event.case !== "toolCallStarted") return false;
  const { callId } = event.value;
  for (const { calls, tools } of frames.values()) {
    const call = calls.find((each) => each.call.callId === callId);
    const tool = call && tools.get(call.call.name);
    if (tool !== undefined) return isOfPlugin(tool) || mediaKindOf(tool) !== undefined;
  }
  return false;
}
