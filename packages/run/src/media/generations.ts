import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MediaCallEndedSchema, MediaCallStarted } from "@reeve/contracts/run";
import { chargeMedia } from "../head/ledger.ts";
import type { Ledger } from "../head/ledger.ts";

/** The latest attempt of each generation of media that has no end, by call id. Never changed in place. */
export type Generations = ReadonlyMap<string, MediaCallStarted>;

/** One object, so that runs that generate nothing share it. */
export const noGenerations: Generations = new Map();

/** Returns the generations after an attempt has started. */
export function withGeneration(generations: Generations, started: MediaCallStarted): Generations {
  return new Map(generations).set(started.callId, started);
}

/** Returns the generations after that of a call has ended; the same object if it has none. */
export function withoutGeneration(generations: Generations, callId = ""): Generations {
  if (!generations.has(callId)) return generations;
  const others = new Map(generations);
  others.delete(callId);
  return others;
}

/**
 * Returns how the generations end that the end of their run cancels. The provider may bill each of them that it was asked for, so its cost
 * is the maximum that was reserved for it.
 */
export function cancelledGenerations(
  generations: Generations,
): readonly MessageInitShape<typeof MediaCallEndedSchema>[] {
  return [...generations.values()].map((started) => {
    const { callId, attempt, model, isWaiting } = started;
    const costUsd = billedUsd(started);
    return {
      callId,
      attempt,
      model,
      failure: "cancelled",
      mayBeBilled: !isWaiting,
      ...(costUsd !== undefined && { costUsd }),
    };
  });
}

/** Returns what a run has used whose end cancels its generations. */
export function withCancelledGenerations(spent: Ledger, generations: Generations): Ledger {
  return [...generations.values()].reduce((sum, started) => {
    const costUsd = billedUsd(started);
    return costUsd === undefined
      ? sum
      : chargeMedia(sum, { inputTokens: 0, outputTokens: 0, costUsd });
  }, spent);
}

/** Returns the maximum cost of a generation. Undefined: it is not known, or nothing was requested. */
function billedUsd({ reservedUsd, isWaiting }: MediaCallStarted): number | undefined {
  return isWaiting ? undefined : reservedUsd;
}
