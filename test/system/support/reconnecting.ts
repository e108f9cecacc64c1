import { Code, ConnectError } from "@connectrpc/connect";
import type { RunEvent, WatchRunRequest } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { Clients } from "@reeve/gateway/test/support/clients";

/** The events of one connection, until the client or the server ended it. */
export interface Connection {
  readonly after: number;
  readonly events: readonly RunEvent[];
  /** The sequence up to which the server reported completeness; undefined: none. */
  readonly throughSequence: number | undefined;
  /** Whether the server reported the run's end and then ended the stream. */
  readonly isWhole: boolean;
}

/** Watches a run from a sequence until `max` events have arrived, or to its end, and then disconnects without notice. */
export async function connection(
  { runs }: Pick<Clients, "runs">,
  request: Pick<WatchRunRequest, "runId" | "afterSequence" | "selection">,
  max: number,
): Promise<Connection> {
  const events: RunEvent[] = [];
  let throughSequence: number | undefined;
  let isWhole = false;
  const leaving = new AbortController();
  const watched = runs.watchRun(request, { signal: leaving.signal });
  // With `max` 0, the client leaves while the request is in flight.
  if (max === 0) setImmediate(() => leaving.abort());
  try {
    for await (const message of watched) {
      const taken = message.events.slice(0, max - events.length);
      events.push(...taken);
      // A client that leaves in the middle of a message has not reached the sequence that it reports.
      if (taken.length === message.events.length) {
        ({ throughSequence } = message);
        isWhole = message.endStatus !== RunStatus.UNSPECIFIED;
      }
      if (events.length >= max) break;
    }
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Canceled) throw error;
  } finally {
    leaving.abort();
  }
  return { after: request.afterSequence, events, throughSequence, isWhole };
}
