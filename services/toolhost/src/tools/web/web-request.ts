import type { IncomingMessage } from "node:http";
import { request as send } from "node:http";
import type { Duplex } from "node:stream";
import type { CallEgress } from "@reeve/sandbox/network/host-egress";

/** Maximum number of redirects that a request follows. */
const maxRedirects = 5;
const redirects = [301, 302, 303, 307, 308];

/** Headers that a redirect to another origin keeps. Others, with whatever name, may have secrets for the first one. */
const portableHeaders = ["accept", "accept-language", "content-type", "user-agent"];

/** Maximum size of all headers of a response. */
const maxHeaderBytes = 32_768;

export interface WebRequest {
  readonly url: URL;
  readonly method: string;
  /** Names are in lowercase. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** A response whose body was not read yet, or the reason why there is none. */
export type WebResponse =
  | { readonly kind: "response"; readonly url: URL; readonly response: IncomingMessage }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Sends a request and follows its redirects. Each of them is a new connection, which the rules of the network permit or refuse.
 * Rejects if the signal aborts.
 */
export async function webRequest(
  egress: CallEgress,
  first: WebRequest,
  signal: AbortSignal,
): Promise<WebResponse> {
  let request = first;
  for (let followed = 0; followed <= maxRedirects; followed++) {
    const problem = problemOf(request.url);
    if (problem !== undefined) return failed(request, followed, problem);
    const route = await egress.connect(request.url, signal);
    if (route.kind !== "open") return failed(request, followed, route.reason);
    let response: IncomingMessage;
    try {
      response = await sent(request, route, signal);
    } catch (error) {
      route.stream.destroy();
      signal.throwIfAborted();
      return failed(request, followed, error instanceof Error ? error.message : String(error));
    }
    const { statusCode = 0, headers } = response;
    if (!redirects.includes(statusCode) || headers.location === undefined) {
      return { kind: "response", url: request.url, response };
    }
    response.destroy();
    const target = URL.parse(headers.location, request.url.href);
    if (target === null) return failed(request, followed, "it redirects to an invalid URL");
    request = redirected(request, target, statusCode);
  }
  return { kind: "failed", reason: `${first.url.href} has more than ${maxRedirects} redirects` };
}

/** Returns why a URL cannot be requested; undefined if it can. */
function problemOf({ protocol, username, password }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:") return "only http and https are supported";
  return username === "" && password === ""
    ? undefined
    : "a URL with a user name or password is not supported";
}

async function sent(
  { url, method, headers, body }: WebRequest,
  { stream, path }: { readonly stream: Duplex; readonly path: string },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const hasBody = body !== undefined;
  const outgoing = send({
    createConnection: () => stream,
    method,
    path,
    headers: {
      "user-agent": "reeve",
      accept: "*/*",
      "accept-encoding": "gzip, deflate, br",
      ...headers,
      ...(hasBody && { "content-length": String(body.byteLength) }),
      host: url.host,
      connection: "close",
    },
    setHost: false,
    maxHeaderSize: maxHeaderBytes,
    signal,
  });
  outgoing.once("response", resolve);
  outgoing.once("upgrade", () => outgoing.destroy(new Error("it answers with another protocol")));
  outgoing.on("error", reject);
  outgoing.end(body);
  return await promise;
}

function redirected(request: WebRequest, url: URL, status: number): WebRequest {
  const { method, headers, body } = request;
  const isSame = url.origin === request.url.origin;
  const kept = isSame
    ? headers
    : Object.fromEntries(
        Object.entries(headers).filter(([name]) => portableHeaders.includes(name)),
      );
  const becomesGet =
    (status === 303 && method !== "HEAD") || ([301, 302].includes(status) && method === "POST");
  if (!becomesGet) return { url, method, headers: kept, body };
  const { "content-type": _, ...rest } = kept;
  return { url, method: "GET", headers: rest };
}

function failed({ url }: WebRequest, followed: number, reason: string): WebResponse {
  const subject = followed === 0 ? "" : `the redirect to ${url.origin} was not followed: `;
  return { kind: "failed", reason: `${subject}${reason}` };
}
