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

/** Requests the events of a run for the feed that follows them. */
export function beginWatch(runId: string): void {
  const { token } = currentSession();
  const request = watchRequest(runId, { afterSequence: 0, resumeToken: "" });
  const watch = new BegunWatch(
    (signal) => runs.watchRun(request, { signal }),
    () => {
      if (begun?.watch === watch) begun = undefined;
    },
  );
  begun?.watch.giveUp();
  begun = { runId, token, watch };
}

/** Returns the stream of a run if one was begun in the same session, and nobody has followed it. */
export function begunWatch(runId: string): BegunWatch | undefined {
  if (begun === undefined || begun.runId !== runId) return undefined;
  if (begun.token === currentSession().token) return begun.watch;
  begun.watch.giveUp();
  return undefined;
}
