/** Returns the command that follows a run after an event. The token stays in the environment of the person. */
export function curlOf(origin: string, runId: string, afterSequence: number): string {
  const query = afterSequence === 0 ? "" : `?afterSequence=${afterSequence}`;
  const url = `${origin}/v1/runs/${encodeURIComponent(runId)}/events${query}`;
  return `curl -sSN --fail-with-body ${quoted(url)} -H "authorization: Bearer $REEVE_TOKEN"`;
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
