import type { Frame, Unit } from "../state/frame.ts";
import { unitsFrom, unitsOf } from "../state/units.ts";
import { charactersOf, estimateTokens, tokensOf } from "./estimate-tokens.ts";

/** Returns the tokens of a summary in a conversation of at most `limit` tokens. */
export function summaryTokens(limit: number): number {
  return Math.min(1_000, Math.floor(limit / 4));
}

/**
 * Returns how many of the oldest units compaction removes, so that the conversation has about half of `limit` tokens. The
 * newest units that fit stay, and so does the latest message of the user. Undefined: nothing can be removed, or the part
 * that has to stay already exceeds the limit.
 */
export function unitsToRemove(
  frame: Frame,
  systemPrompt: string,
  limit: number,
): number | undefined {
  const units = unitsOf(frame);
  const user = frame.units.latestUser;
  const already = frame.compaction?.removed ?? 0;
  const scale = scaleOf(frame, systemPrompt);
  const kept = user === undefined ? [] : units.slice(user, user + 1);
  const alone = { ...frame, units: unitsFrom(kept), compaction: undefined };
  const bare = scale * uncounted(alone, systemPrompt);
  if (bare > limit) return undefined;
  const sizeOf = (unit: Unit) => scale * tokensOf(charactersOf(unit));
  const newest = units.at(-1);
  const stays = bare + summaryTokens(limit);
  // The newest unit is what the model has just learned; it stays if it fits at all.
  const wanted = stays + (newest === undefined ? 0 : sizeOf(newest));
  let room = Math.max(Math.floor(limit / 2), Math.min(limit, wanted)) - stays;
  let removed = units.length;
  while (removed > already) {
    const index = removed - 1;
    const unit = units[index];
    if (unit === undefined) break;
    room -= index === user ? 0 : sizeOf(unit);
    if (room < 0) break;
    removed = index;
  }
  // The user's message stays in any case; removing only that removes nothing.
  const taken = units.slice(already, removed).filter((_, offset) => already + offset !== user);
  return taken.length === 0 ? undefined : removed;
}

/** Returns the tokens of the conversation when a summary replaces `removed` of its units. */
export function tokensAfter(
  frame: Frame,
  systemPrompt: string,
  removed: number,
  summary: string,
): number {
  const user = frame.units.latestUser;
  const kept = user !== undefined && user < removed ? user : undefined;
  const after = { ...frame, compaction: { removed, kept, summary } };
  return Math.ceil(scaleOf(frame, systemPrompt) * uncounted(after, systemPrompt));
}

function uncounted(frame: Frame, systemPrompt: string): number {
  return estimateTokens({ ...frame, measured: undefined }, systemPrompt);
}

/** Returns the ratio of the provider's count to the estimate, at least 1. */
function scaleOf(frame: Frame, systemPrompt: string): number {
  return Math.max(1, estimateTokens(frame, systemPrompt) / uncounted(frame, systemPrompt));
}
