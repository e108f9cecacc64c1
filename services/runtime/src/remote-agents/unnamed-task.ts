import type { Client } from "@a2a-js/sdk/client";
import { AnswerNotNeeded } from "@reeve/engine/ports/model-provider";
import { onAbort } from "@reeve/platform/async/on-abort";
import type { RemoteTurn } from "./remote-turn.ts";

/** How long an agent may take to name a task that nobody needs any more, and then to cancel it. */
const namingMs = 5_000;
const cancelMs = 5_000;

/** A message to an agent that has not named its task yet, so that nothing else could cancel it. */
export interface UnnamedTask extends Disposable {
  /** Aborts with the signal of the step, but later if the task must be known first to be canceled. */
  readonly signal: AbortSignal;
  /** Call after each event. If the step is over, cancels the task, and rejects with the signal's reason. */
  assertNeeded(): Promise<void>;
}

/** Follows a message until `signal` aborts. If the answer will never be needed, waits for the name of the task for some seconds, and cancels it. */
export function unnamedTask(
  client: Pick<Client, "cancelTask">,
  turn: RemoteTurn,
  signal: AbortSignal,
): UnnamedTask {
  const sending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    const isOrphan = signal.reason instanceof AnswerNotNeeded && turn.taskId === "";
    if (!isOrphan) return sending.abort(signal.reason);
    timer = setTimeout(() => sending.abort(signal.reason), namingMs);
  };
  const following = onAbort(signal, end);
  return {
    signal: sending.signal,
    async assertNeeded() {
      if (!signal.aborted) return;
      if (timer !== undefined && turn.taskId !== "" && turn.end?.kind !== "answer") {
        const request = { tenant: "", id: turn.taskId, metadata: undefined };
        // The task may have ended, and nobody waits for the answer.
        await client
          .cancelTask(request, { signal: AbortSignal.timeout(cancelMs) })
          .catch(() => undefined);
      }
      throw signal.reason;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      following[Symbol.dispose]();
      sending.abort(signal.reason);
    },
  };
}
