import type { Tail } from "@reeve/jetstream/log/port";
import { isBatchTooLarge } from "@reeve/jetstream/streams/payload-limit";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { failRun } from "../domain/end-run.ts";
import type { Fact } from "../domain/state/fact.ts";
import { rootScope } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { BatchLimits, FactBatch } from "../domain/build-batch.ts";
import { buildBatch } from "../domain/build-batch.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** A run as it stands, and where its log ends. */
export interface FoldedLog {
  readonly state: RunState;
  readonly tail: Tail;
}

/** The facts stand; somebody else wrote first; or the facts are more than one batch can hold. */
export type AppendOutcome =
  /** `isComplete`: nothing more is to follow from the state. */
  | ({ readonly kind: "appended"; readonly isComplete: boolean } & FoldedLog)
  | { readonly kind: "conflict" }
  | { readonly kind: "oversized" };

/**
 * Appends `facts` and all that follows from them within `extent`. Where that is more than one batch can hold, what follows comes in batches
 * of its own: each of them is taken up from the log as if its writer had died after the one before. Without facts, what
 * follows from the state as it is.
 */
export async function appendFacts(
  key: RunKey,
  { state, tail, extent = {} }: FoldedLog & { readonly extent?: BatchLimits },
  facts: readonly Fact[],
  { log, clock }: Pick<RunPorts, "log" | "clock">,
  signal: AbortSignal,
): Promise<AppendOutcome> {
  const append = async ({ events, state, isComplete }: FactBatch): Promise<AppendOutcome> => {
    if (events.length === 0) return { kind: "appended", state, tail, isComplete };
    try {
      const outcome = await log.append(key, tail, events, signal);
      return outcome.kind === "appended" ? { ...outcome, state, isComplete } : outcome;
    } catch (error) {
      if (isBatchTooLarge(error)) return { kind: "oversized" };
      throw error;
    }
  };
  const written = await append(buildBatch(state, facts, clock.now(), extent));
  if (written.kind !== "oversized") return written;
  return await append(buildBatch(state, facts, clock.now(), { ...extent, maxBytes: partBytes }));
}

/** With what follows, a batch may come to this: half of what a store takes. */
const partBytes = 512 * 1024;

/**
 * The end of a run whose next facts no store takes: `facts` as far as they say who has it, and why it ends. To try them
 * again would call its model again, for ever.
 */
export function failOversized(state: RunState, facts: readonly Fact[]): readonly Fact[] {
  const kept = facts.filter(({ event }) => event.case === "runClaimed" || event.case === "status");
  const message =
    "what the run would write next is larger than its log takes in one piece; give it fewer or smaller tools, messages and arguments";
  return [...kept, ...failRun(state, rootScope, "too_large", message)];
}
