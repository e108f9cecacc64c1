import type { RunEvent } from "@reeve/contracts/run";
import { apply } from "./apply.ts";
import { consequences } from "./consequences.ts";
import type { Fact } from "./fact.ts";
import { stamp } from "./fact.ts";
import { withdrawn } from "./questions.ts";
import type { RunState } from "./run-state.ts";

/** Events in their places, and the state after them. */
export interface Settled {
  readonly events: readonly RunEvent[];
  readonly state: RunState;
}

/**
 * Places `facts` after `state`, and after them everything that follows from them without any effect: facts that are known
 * together are appended together. Nothing is placed after a terminal status.
 */
export function settle(state: RunState, facts: readonly Fact[], nowMs: number): Settled {
  const events: RunEvent[] = [];
  let pending = facts;
  while (pending.length > 0 && state.end === undefined) {
    for (const fact of pending) {
      for (const placed of [...withdrawn(state, fact), fact]) {
        if (state.end !== undefined) break;
        const event = stamp(state.runId, state.sequence + 1, nowMs, placed);
        events.push(event);
        state = apply(state, event);
      }
    }
    pending = consequences(state, nowMs);
  }
  return { events, state };
}
