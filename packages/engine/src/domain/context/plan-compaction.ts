import { firstTokens } from "@reeve/agent/text/count-tokens";
import { IncompleteReason } from "@reeve/contracts/run";
import type { Frame, Unit } from "../state/frame.ts";
import { unitsOf } from "../state/units.ts";
import { countedTokens, tokenRatio } from "../model/prompt-tokens.ts";
import type { RunState } from "../state/run-state.ts";
import type { ContextLimit } from "./context-limit.ts";
import { contextLimit } from "./context-limit.ts";

/** A compaction that brings a conversation below a limit. */
export interface Compaction {
  /** The number of the oldest units that it removes. The latest message of the user among them stays. */
  readonly removed: number;
  /** The tokens that the text in their place may have. */
  readonly summaryTokens: number;
}

/** The length of a summary, as a share of the limit and at most. */
const summaryShare = 1 / 4;
const maxSummaryTokens = 1_000;

/**
 * Returns the compaction after which the conversation has about half of the tokens at which it is compacted. The newest units
 * that fit stay, and so does the latest message of the user. Undefined: nothing can be removed, or the part that has to
 * stay exceeds the limit.
 */
export function planCompaction(state: RunState, frame: Frame): Compaction | undefined {
  const limits = contextLimit(state, frame);
  const roomBelow = roomAfter(state, frame, limits);
  for (const limit of limitsIn(limits)) {
    const planned = compactionBelow(frame, limit, roomBelow);
    if (planned !== undefined) return planned;
  }
  return undefined;
}

/** A conversation that cannot get below the number at which it is compacted may still get below the number at which it ends. */
function limitsIn({ compactAt, endAt }: ContextLimit): readonly number[] {
  return endAt === undefined || endAt === compactAt ? [compactAt] : [compactAt, endAt];
}

/** Returns the tokens that are left below a limit once the oldest `removed` units are gone. */
type RoomBelow = (limit: number, removed: number) => number;

/** The size is an estimate by the provider's last count. Its upper bound has to stay below the end of the run in any case. */
function roomAfter(state: RunState, frame: Frame, { endAt = Infinity }: ContextLimit): RoomBelow {
  const ratio = tokenRatio(state, frame);
  return (limit, removed) => {
    const counted = countedAfter(state, frame, removed, "");
    return Math.floor(Math.min(limit - ratio * counted, endAt - frame.scale * counted));
  };
}

function compactionBelow(
  frame: Frame,
  limit: number,
  roomBelow: RoomBelow,
): Compaction | undefined {
  const units = unitsOf(frame);
  const already = frame.compaction?.removed ?? 0;
  if (roomBelow(limit, units.length) < 0) return undefined;
  const reserved = Math.min(maxSummaryTokens, Math.floor(limit * summaryShare));
  const fits = (removed: number, size: number) => roomBelow(size, removed) >= reserved;
  let removed = fewest(already + 1, units.length, (count) => fits(count, Math.floor(limit / 2)));
  // The newest unit is what the model has just learned; it stays if it fits at all.
  if (removed === units.length && removed > already + 1 && fits(removed - 1, limit)) removed--;
  if (!removesAny(frame, units, removed)) return undefined;
  const summaryTokens = Math.max(0, Math.min(2 * reserved, roomBelow(limit, removed)));
  return { removed, summaryTokens };
}

/** Returns the least count from `from` to `to` that is enough, or `to` if none is. More is enough whenever less is. */
function fewest(from: number, to: number, isEnough: (count: number) => boolean): number {
  let low = Math.min(from, to);
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether a compaction removes more than the user's message, which stays in any case. */
function removesAny(frame: Frame, units: readonly Unit[], removed: number): boolean {
  const already = frame.compaction?.removed ?? 0;
  const user = frame.units.latestUser;
  const taken = Math.max(0, removed - already);
  return taken > (user !== undefined && user >= already && user < removed ? 1 : 0);
}

/** Returns an estimate of the tokens of the conversation when a summary replaces `removed` of its units. */
export function tokensAfter(
  state: RunState,
  frame: Frame,
  removed: number,
  summary: string,
): number {
  return tokenRatio(state, frame) * countedAfter(state, frame, removed, summary);
}

function countedAfter(state: RunState, frame: Frame, removed: number, summary: string): number {
  const user = frame.units.latestUser;
  const kept = user !== undefined && user < removed ? user : undefined;
  return countedTokens(state, { ...frame, compaction: { removed, kept, summary } });
}

/** Returns a summary that fits the planned compaction. It begins with a note if the model did not complete it, or if it is cut. */
export function markedSummary(
  summary: string,
  planned: Compaction,
  reason: IncompleteReason,
): string {
  const fitting = fitSummary(summary, planned);
  if (reason === IncompleteReason.FILTERED)
    return fitSummary(`${filteredMark}\n${summary}`, planned);
  return reason === IncompleteReason.TRUNCATED || fitting.length < summary.trim().length
    ? fitSummary(`${truncatedMark}\n${summary}`, planned)
    : fitting;
}

const truncatedMark = "[incomplete: the summary is truncated; what followed is missing]";
const filteredMark = "[incomplete: the model or its provider withheld a part of the summary]";

/** Returns the part of a text in place of the removed units that the planned compaction has room for. */
export function fitSummary(summary: string, { summaryTokens }: Compaction): string {
  return firstTokens(summary.trim(), summaryTokens - summaryMarkTokens).trim();
}

/** What the message of a summary has besides the summary. */
const summaryMarkTokens = 32;
