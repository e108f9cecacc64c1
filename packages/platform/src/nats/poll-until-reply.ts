import type { ConnectionState } from "./connection-state.ts";
import { pause } from "../async/patiently.ts";
import { storeUnavailable } from "./store-unavailable.ts";

/** How long nobody may have answered before a host is silent, and how often it is asked until then. */
const silence = { silentMs: 4_000, everyMs: 250 };
/** For one that was silent a moment ago. */
export const singleAttempt = { silentMs: 0, everyMs: 250 };

/**
 * Asks until there is an answer. Undefined: there was none for four seconds, in which this process was connected all the time;
 * one that reconnects meanwhile on the other side is heard again. Throws a Failure of kind `unavailable` when the
 * connection of this side is lost: then it is not known who is silent.
 */
export async function pollUntilReply<Answer>(
  ask: () => Promise<Answer | undefined>,
  state: Pick<ConnectionState, "isUp" | "onChange">,
  signal: AbortSignal,
  { silentMs, everyMs } = silence,
): Promise<Answer | undefined> {
  const lost = new AbortController();
  const lose = () => lost.abort(storeUnavailable());
  if (!state.isUp) lose();
  const forget = state.onChange(lose);
  const until = AbortSignal.any([signal, lost.signal]);
  const askedAt = performance.now();
  try {
    for (;;) {
      until.throwIfAborted();
      const answer = await ask();
      if (answer !== undefined) return answer;
      until.throwIfAborted();
      if (performance.now() - askedAt >= silentMs) return undefined;
      await pause(everyMs, until);
    }
  } finally {
    forget();
  }
}
