import type { FetchLike } from "@modelcontextprotocol/client";
import { AddressGuard } from "@reeve/sandbox/network/address-guard";
import { Agent, fetch } from "undici";
import { withMessageLimit } from "./message-limit.ts";

/** How long a server may take to begin its answer. */
const headersTimeoutMs = 300_000;
const connectTimeoutMs = 10_000;

/** A `fetch` with its own connections, which are closed when it is disposed. */
export interface GuardedFetch extends AsyncDisposable {
  readonly fetch: FetchLike;
}

/**
 * Returns a `fetch` that reaches only permitted addresses, whatever a name resolves to. It follows no redirects, and accepts no
 * message larger than `maxBytes`.
 */
export function guardedFetch(allowed: readonly string[], maxBytes: number): GuardedFetch {
  const guard = new AddressGuard(allowed);
  const agent = new Agent({
    connect: { lookup: guard.lookup, timeout: connectTimeoutMs },
    headersTimeout: headersTimeoutMs,
    // A stream of events is silent for as long as nothing happens.
    bodyTimeout: 0,
  });
  return {
    fetch: async (input, init) => {
      const url = new URL(input);
      guard.assertUrl(url);
      // The types of Node's fetch and of undici's describe the same objects.
      const options = { ...init, redirect: "manual", dispatcher: agent } as Parameters<
        typeof fetch
      >[1];
      const response = (await fetch(url, options)) as unknown as Response;
      return withMessageLimit(response, maxBytes);
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
