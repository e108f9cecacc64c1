import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { AddressGuard, privateRanges } from "@reeve/sandbox/network/address-guard";
import { Agent, fetch } from "undici";
import type { Remote } from "./remotes-file.ts";
import { isBelow } from "./remotes-file.ts";

const connectTimeoutMs = 10_000;
/** How long an agent may take to begin its answer. */
const headersTimeoutMs = 300_000;
/** How long a stream may be silent. */
const bodyTimeoutMs = 300_000;
/** The maximum size of one answer or stream. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** A `fetch` with its own connections, which are closed when it is disposed. */
export interface PermittedFetch extends AsyncDisposable {
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Returns a `fetch` that reaches only the addresses of a remote, with its token, and follows no redirect. An address of this host or of a
 * private network is refused unless the operator allows it, whatever its name resolves to. Throws a ModelFailure for statuses that say
 * why there is no answer.
 */
export function permittedFetch({ prefix, token, allowedAddresses, name }: Remote): PermittedFetch {
  const guard = new AddressGuard(allowedAddresses, privateRanges);
  const agent = new Agent({
    connect: { lookup: guard.lookup, timeout: connectTimeoutMs },
    headersTimeout: headersTimeoutMs,
    bodyTimeout: bodyTimeoutMs,
  });
  return {
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      if (!isBelow(prefix, url.href)) {
        const message = `the remote agent names ${url.origin}${url.pathname.slice(0, 100)}, which is outside of the remote ${name}; permit it in the file of REEVE_A2A_REMOTES`;
        throw new ModelFailure("refused", message);
      }
      guard.assertUrl(url);
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      // The types of Node's fetch and of undici's describe the same objects.
      const options = {
        ...init,
        headers,
        redirect: "manual",
        dispatcher: agent,
      } as unknown as Parameters<typeof fetch>[1];
      const response = (await fetch(url, options)) as unknown as Response;
      await assertUsable(response, url);
      return limited(response, maxAnswerBytes);
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

async function assertUsable(response: Response, { origin }: URL): Promise<void> {
  const { status } = response;
  const failure = failureOf(status, origin, response.headers.get("retry-after"));
  if (failure === undefined) return;
  await response.body?.cancel();
  throw failure;
}

function failureOf(
  status: number,
  origin: string,
  retryAfter: string | null,
): ModelFailure | undefined {
  const says = `the remote agent at ${origin} answers ${status}`;
  if (status >= 300 && status < 400) {
    return new ModelFailure("refused", `${says}, a redirect, which is not followed`);
  }
  if (status === 401 || status === 403) return new ModelFailure("unauthenticated", says);
  if (status === 429) {
    const seconds = Number(retryAfter ?? "");
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
    return new ModelFailure("rate_limited", says, { retryAfterMs });
  }
  return status >= 500 ? new ModelFailure("unavailable", says) : undefined;
}

/** Returns a response whose body fails once it is larger than `maxBytes`. */
export function limited(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      const message = `the remote agent sent more than ${maxBytes} bytes`;
      controller.error(new ModelFailure("malformed", message, { retryable: false }));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
