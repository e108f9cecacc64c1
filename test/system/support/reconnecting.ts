import { Code, ConnectError } from "@connectrpc/connect";
import type { RunEvent, WatchRunRequest } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { Clients } from "@reeve/gateway/test/support/clients";

/** What one connection of a client gave before it was given up, or ended by itself. */
export interface Connection {
  readonly after: number;
  readonly events: readonly RunEvent[];
  /** Up to where the server said that nothing is missing; undefined: it said nothing. */
  readonly throughSequence: number | undefined;
  /** Whether the server said that the run has ended, and then ended the stream. */
  readonly isWhole: boolean;
}

/** Watches a run after a sequence until `most` events have come, or to its end, and goes away without a word. */
export async function connection(
  { runs }: Pick<Clients, "runs">,
  request: Pick<WatchRunRequest, "runId" | "afterSequence" | "selection">,
  most: number,
): Promise<Connection> {
  const events: RunEvent[] = [];
  let throughSequence: number | undefined;
  let isWhole = false;
  const leaving = new AbortController();
  const watched = runs.watchRun(request, { signal: leaving.signal });
  // One who wants nothing leaves while the request is on its way.
  if (most === 0) setImmediate(() => leaving.abort());
  try {
    for await (const message of watched) {
      const taken = message.events.slice(0, most - events.length);
      events.push(...taken);
      // Whoever leaves in the middle of a message has not come to the place that it names.
      if (taken.length === message.events.length) {
        ({ throughSequence } = message);
        isWhole = message.endStatus !== RunStatus.UNSPECIFIED;
      }
      if (events.length >= most) break;
    }
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Canceled) throw error;
  } finally {
    leaving.abort();
  }
  return { after: request.afterSequence, events, throughSequence, isWhole };
}
