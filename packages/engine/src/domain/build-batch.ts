import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { apply } from "./state/apply.ts";
import { nextFacts } from "./next-facts.ts";
import type { Fact } from "./state/fact.ts";
import { stamp } from "./state/fact.ts";
import { withdrawQuestions } from "./calls/questions.ts";
import type { RunState } from "./state/run-state.ts";
import { hasEnded } from "./state/run-state.ts";

/** Events in their places, and the state after them. */
export interface FactBatch {
  readonly events: readonly RunEvent[];
  readonly state: RunState;
  /** Whether all that is to follow is among them. */
  readonly isComplete: boolean;
}

/** How far to go with what follows from facts. */
export interface BatchLimits {
  /** Facts are placed whole, and of what follows as much as fits. */
  readonly maxBytes?: number;
  /** Nothing is to follow from where a model would be called. */
  readonly stopsBeforeModelCalls?: boolean;
}

/**
 * Places `facts` after `state`, and after them everything that follows from them without any effect: facts that are known
 * together are appended together. Nothing is placed after a terminal status. What is beyond `extent` follows from the state
 * that is given back.
 */
export function buildBatch(
  state: RunState,
  facts: readonly Fact[],
  nowMs: number,
  { maxBytes = Infinity, stopsBeforeModelCalls = false }: BatchLimits = {},
): FactBatch {
  const events: RunEvent[] = [];
  let room = maxBytes;
  let pending = facts.length > 0 ? facts : nextFacts(state, nowMs);
  let isGiven = facts.length > 0;
  while (pending.length > 0 && !hasEnded(state)) {
    for (const fact of pending) {
      if (stopsBeforeModelCalls && !isGiven && fact.event.case === "modelCallStarted") {
        return { events, state, isComplete: true };
      }
      for (const placed of [...withdrawQuestions(state, fact), fact]) {
        if (hasEnded(state)) break;
        const event = stamp(state.head.runId, state.head.lastSequence + 1, nowMs, placed);
        // Nobody asks for the size where nothing bounds it.
        if (room !== Infinity) room -= toBinary(RunEventSchema, event).length;
        if (room < 0 && !isGiven && events.length > 0) return { events, state, isComplete: false };
        events.push(event);
        state = apply(state, event);
      }
    }
    isGiven = false;
    pending = nextFacts(state, nowMs);
  }
  return { events, state, isComplete: true };
}
