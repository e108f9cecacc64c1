import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch } from "undici";
import { AddressGuard } from "@reeve/sandbox/network/address-guard";
import { bounded } from "./bounded-body.ts";

/** How long a server may take to begin an answer. */
const answerMs = 300_000;
const connectMs = 10_000;

/** A `fetch` with connections of its own, which are gone when it is disposed. */
export interface GuardedFetch extends AsyncDisposable {
  readonly fetch: FetchLike;
}

/**
 * A `fetch` that reaches no address which is not permitted, whatever a name resolves to, follows no redirects, and takes
 * no message that is larger than `maxBytes`.
 */
export function guardedFetch(allowed: readonly string[], maxBytes: number): GuardedFetch {
  const guard = new AddressGuard(allowed);
  const agent = new Agent({
    connect: { lookup: guard.lookup, timeout: connectMs },
    headersTimeout: answerMs,
    // A stream of events is silent for as long as nothing happens.
    bodyTimeout: 0,
  });
  return {
    fetch: async (input, init) => {
      const url = new URL(input);
      guard.assertUrl(url);
      // The types of Node's own fetch and of undici's are two names for the same things.
      const request = { ...init, redirect: "manual", dispatcher: agent } as Parameters<
        typeof fetch
      >[1];
      const answer = (await fetch(url, request)) as unknown as Response;
      return bounded(answer, maxBytes);
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
