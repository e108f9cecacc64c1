import type { FetchLike } from "@modelcontextprotocol/client";
import type { Resolve } from "@reeve/sandbox/network/address-guard";
import { AddressGuard, privateRanges } from "@reeve/sandbox/network/address-guard";
import { Agent, fetch } from "undici";
import { withMessageLimit } from "./message-limit.ts";

/** How long a server may take to begin its answer. */
const headersTimeoutMs = 300_000;
const connectTimeoutMs = 10_000;
/** How long another host may be silent, and how much it may send: it only describes how to get a token. */
const otherTimeoutMs = 30_000;
export const maxOtherBytes = 2 ** 20;

/** A `fetch` with its own connections, which are closed when it is disposed. */
export interface GuardedFetch extends AsyncDisposable {
  readonly fetch: FetchLike;
}

export interface GuardedFetchOptions {
  /** Addresses that are permitted for all hosts. */
  readonly allowed: readonly string[];
  /** The origins that the operator configured. All others are named by a server, which need not be honest. */
  readonly origins: readonly string[];
  /** The maximum size of a message of a configured host. */
  readonly maxBytes: number;
}

/**
 * Returns a `fetch` that reaches only permitted addresses, whatever a name resolves to: the address that is checked is the one
 * of the connection. Origins that the operator did not configure are not reached in private networks. It follows no redirects.
 */
export function guardedFetch(
  { allowed, origins, maxBytes }: GuardedFetchOptions,
  resolve?: Resolve,
): GuardedFetch {
  const configured = routeBy(new AddressGuard(allowed, [], undefined, resolve), maxBytes, {
    headersTimeout: headersTimeoutMs,
    // A stream of events is silent for as long as nothing happens.
    bodyTimeout: 0,
  });
  const others = routeBy(
    new AddressGuard(allowed, privateRanges, undefined, resolve),
    Math.min(maxBytes, maxOtherBytes),
    { headersTimeout: otherTimeoutMs, bodyTimeout: otherTimeoutMs },
  );
  return {
    fetch: async (input, init) => {
      const url = new URL(input);
      const route = origins.includes(url.origin) ? configured : others;
      route.guard.assertUrl(url);
      // The types of Node's fetch and of undici's describe the same objects.
      const options = { ...init, redirect: "manual", dispatcher: route.agent } as Parameters<
        typeof fetch
      >[1];
      const response = (await fetch(url, options)) as unknown as Response;
      return withMessageLimit(response, route.maxBytes);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([configured.agent.destroy(), others.agent.destroy()]);
    },
  };
}

function routeBy(
  guard: AddressGuard,
  maxBytes: number,
  timeouts: { readonly headersTimeout: number; readonly bodyTimeout: number },
) {
  const connect = { lookup: guard.lookup, timeout: connectTimeoutMs };
  return { guard, maxBytes, agent: new Agent({ connect, ...timeouts }) };
}
