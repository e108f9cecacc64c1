import type { RequestClient } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { ApiError } from "./errors.ts";
import { storeFailure } from "./errors.ts";

/**
 * Waits until a majority of the servers that keep a stream has agreed on everything before this call. A leader that was cut off
 * from the others cannot answer, and does not know that it was. Throws a Failure of kind `unavailable` when no leader answers.
 *
 * The request purges a subject that has no messages: of the requests that change nothing, the one that servers replicate.
 */
export async function settleStream(requests: RequestClient, stream: string): Promise<void> {
  // One token is less than any subject of a stream has. `keep` makes the servers look up the subject instead of searching for it.
  const data = JSON.stringify({ filter: "settle", keep: 1 });
  const reply = await requests.send(`$JS.API.STREAM.PURGE.${stream}`, { data });
  if (reply === undefined) throw storeUnavailable();
  const { error } = reply.json<{ readonly error?: ApiError }>();
  if (error !== undefined) throw storeFailure(error);
}
