import type { Frame, Unit } from "../state/frame.ts";
import { unitsFrom, unitsOf } from "../state/units.ts";
import { charactersOf, estimateTokens, tokensOf } from "./estimate-tokens.ts";

/** Tokens that a summary is given when a conversation may have `limit`. */
export function summaryTokens(limit: number): number {
  return Math.min(1_000, Math.floor(limit / 4));
}

/**
 * How many of the oldest units to take out of a conversation, so that it comes to about half of `limit` tokens: the newest
 * ones that fit stay, and the latest message of the user always does. Undefined: nothing can be taken out, or what has to
 * stay is too large by itself.
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
  // The newest unit is what the model has just learned: it stays when it fits at all.
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
  // Taking out only the user's message, which stays anyway, takes out nothing.
  const taken = units.slice(already, removed).filter((_, offset) => already + offset !== user);
  return taken.length === 0 ? undefined : removed;
}

/** What the conversation comes to without `removed` of its units and with a summary in their place. */
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

/** How many tokens of the provider one of the estimate is, as far as it is more than one. */
function scaleOf(frame: Frame, systemPrompt: string): number {
  return Math.max(1, estimateTokens(frame, systemPrompt) / uncounted(frame, systemPrompt));
}
