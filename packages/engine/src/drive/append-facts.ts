import type { Tail } from "@reeve/jetstream/log/port";
import { isBatchTooLarge } from "@reeve/jetstream/streams/payload-limit";
import { isStoreFull } from "@reeve/jetstream/streams/errors";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { BatchLimits, FactBatch } from "../domain/build-batch.ts";
import { buildBatch } from "../domain/build-batch.ts";
import { failRun } from "../domain/end-run.ts";
import type { Fact } from "../domain/state/fact.ts";
import { rootScope } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { refusalBy } from "../perform/policy-now.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** The state of a run and the tail of the log up to which it is folded. */
export interface FoldedLog {
  readonly state: RunState;
  readonly tail: Tail;
}

/**
 * The result of an append. `conflict`: another writer was first. `oversized`: no batch can hold the facts. `full`: the store has no
 * room for them now.
 */
export type AppendOutcome =
  /** `isComplete`: the log now holds all facts that follow from the state. */
  | ({ readonly kind: "appended"; readonly isComplete: boolean } & FoldedLog)
  | { readonly kind: "conflict" }
  | { readonly kind: "oversized" }
  | { readonly kind: "full" };

/** With the facts that follow, half of what a store accepts as one batch. */
const maxPartialBatchBytes = 512 * 1024;

/**
 * Appends `facts` and everything that follows from them within `limits`; without facts, what follows from the state. If
 * that exceeds one batch, only as much as fits is appended, and the outcome is not complete: the caller appends what is left
 * as a new owner would after a crash at that point.
 */
export async function appendFacts(
  key: RunKey,
  { state, tail, limits = {} }: FoldedLog & { readonly limits?: BatchLimits },
  facts: readonly Fact[],
  ports: RunPorts,
  signal: AbortSignal,
): Promise<AppendOutcome> {
  const { log, clock } = ports;
  const decided: BatchLimits = { ...limits, refusalNow: refusalBy(ports) };
  const append = async ({ events, state, isComplete }: FactBatch): Promise<AppendOutcome> => {
    if (events.length === 0) return { kind: "appended", state, tail, isComplete };
    try {
      const outcome = await log.append(key, tail, events, signal);
      return outcome.kind === "appended" ? { ...outcome, state, isComplete } : outcome;
    } catch (error) {
      if (isBatchTooLarge(error)) return { kind: "oversized" };
      if (isStoreFull(error)) return { kind: "full" };
      throw error;
    }
  };
  const outcome = await append(buildBatch(state, facts, clock.now(), decided));
  if (outcome.kind !== "oversized") return outcome;
  const partial = { ...decided, maxBytes: maxPartialBatchBytes };
  return await append(buildBatch(state, facts, clock.now(), partial));
}

/**
 * Returns the facts that end a run because no batch can hold its next facts. Keeps the claim and the status among `facts`.
 * A retry instead would call the model again and again.
 */
export function failOversized(state: RunState, facts: readonly Fact[]): readonly Fact[] {
  const kept = facts.filter(({ event }) => event.case === "runClaimed" || event.case === "status");
  const message =
    "the next facts of the run are larger than its log accepts in one batch; give the run fewer or smaller tools, messages, and arguments";
  return [...kept, ...failRun(state, rootScope, "too_large", message)];
}
