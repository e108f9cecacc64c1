/** How many turns stay as they were shown live, and how many events they have together. */
const maxTurns = 20;
const maxEvents = 50_000;

/**
 * Returns the turns that stay as they were shown live when another one becomes active: the newest ones. The oldest, and all that are older
 * than a turn with too many events, are shown as they are stored then. `eventsOf` has those that have ended.
 */
export function keepTurns(
  watched: readonly string[],
  activeRunId: string,
  eventsOf: ReadonlyMap<string, number>,
): readonly string[] {
  const kept = [activeRunId];
  let events = 0;
  for (const runId of watched.toReversed()) {
    if (runId === activeRunId) continue;
    events += eventsOf.get(runId) ?? 0;
    if (kept.length === maxTurns || events > maxEvents) break;
    kept.unshift(runId);
  }
  return kept;
}
