import { latestUser } from "../conversation.ts";
import type { Frame } from "../frame.ts";
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
  const { units, compaction } = frame;
  const user = latestUser(units);
  const already = compaction?.removed ?? 0;
  const bare = estimateTokens(
    {
      ...frame,
      measured: undefined,
      units: user === undefined ? [] : units.slice(user, user + 1),
      compaction: undefined,
    },
    systemPrompt,
  );
  if (bare > limit) return undefined;
  const stays = bare + summaryTokens(limit);
  let room =
    Math.max(Math.floor(limit / 2), Math.min(limit, stays + lastUnitTokens(frame))) - stays;
  let removed = units.length;
  while (removed > already) {
    const index = removed - 1;
    const unit = units[index];
    if (unit === undefined) break;
    room -= index === user ? 0 : tokensOf(charactersOf(unit));
    if (room < 0) break;
    removed = index;
  }
  // Taking out only the user's message, which stays anyway, takes out nothing.
  const taken = units.slice(already, removed).filter((_, offset) => already + offset !== user);
  return taken.length === 0 ? undefined : removed;
}

/** What the conversation comes to without `removed` of its units and with a summary of so many characters. */
export function tokensAfter(
  frame: Frame,
  systemPrompt: string,
  removed: number,
  summary: string,
): number {
  const user = latestUser(frame.units);
  const kept = user !== undefined && user < removed ? user : undefined;
  return estimateTokens(
    { ...frame, measured: undefined, compaction: { removed, kept, summary } },
    systemPrompt,
  );
}

/** The newest unit is what the model has just learned: it stays when it fits at all. */
function lastUnitTokens({ units }: Frame): number {
  const last = units.at(-1);
  return last === undefined ? 0 : tokensOf(charactersOf(last));
}
