/** How many runs a tab remembers: those that are active or queued are few. */
const maxRuns = 50;

/** Returns the runs of a stored list. A list that cannot be read has none. */
export function runsOf(stored: string | null): readonly string[] {
  return stored === null ? [] : stored.split(" ");
}

/** Returns the list with one more run, without the oldest ones if there are many. */
export function runsAfter(stored: string | null, runId: string): string {
  const others = runsOf(stored).filter((each) => each !== runId);
  return [...others, runId].slice(-maxRuns).join(" ");
}
