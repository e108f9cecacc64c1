import { currentSession } from "../../api/session.ts";
import { runs } from "../../api/transport.ts";
import { BegunWatch, watchRequest } from "./begun-watch.ts";

/** The stream that was begun last, and for whom. */
interface Begun {
  readonly runId: string;
  readonly token: string | undefined;
  readonly watch: BegunWatch;
}

let begun: Begun | undefined;

/** Requests the events of a run for the feed that takes the stream. */
export function beginWatch(runId: string): void {
  const { token } = currentSession();
  const request = watchRequest(runId, { afterSequence: 0, resumeToken: "" });
  begun = { runId, token, watch: new BegunWatch((signal) => runs.watchRun(request, { signal })) };
}

/** Returns the stream of a run if one was begun in the same session. Each is returned once. */
export function takeBegunWatch(runId: string): BegunWatch | undefined {
  if (begun?.runId !== runId || begun.token !== currentSession().token) return undefined;
  const { watch } = begun;
  begun = undefined;
  return watch;
}
