import type { IncomingMessage } from "node:http";
import { request as send } from "node:http";
import type { CallEgress, OpenRoute } from "../host-egress.ts";
import type { WebRequest } from "./redirected-request.ts";
import { redirectedRequest } from "./redirected-request.ts";

/** Maximum number of redirects that a request follows. */
const maxRedirects = 5;
const redirects = [301, 302, 303, 307, 308];

/** Maximum size of all headers of a response. */
const maxHeaderBytes = 32_768;

/** A response whose body was not read yet, or the reason why there is none. */
export type WebResponse =
  | { readonly kind: "response"; readonly url: URL; readonly response: IncomingMessage }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Sends a request and follows its redirects. Each of them is a new connection, which the rules of the network permit or refuse.
 * No redirect leaves https, and another origin gets neither credentials nor a body. Rejects if the signal aborts.
 */
export async function webRequest(
  egress: CallEgress,
  first: WebRequest,
  signal: AbortSignal,
): Promise<WebResponse> {
  let request = first;
  for (let followed = 0; followed <= maxRedirects; followed++) {
    const problem = problemOf(request.url);
    if (problem !== undefined) return failed(request.url, followed, problem);
    const route = await egress.connect(request.url, { isAnonymous: request.isAnonymous }, signal);
    if (route.kind !== "open") return failed(request.url, followed, route.reason);
    let response: IncomingMessage;
    try {
      response = await sent(request, route, signal);
    } catch (error) {
      route.stream.destroy();
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      return failed(request.url, followed, reason);
    }
    const { statusCode = 0, headers } = response;
    if (!redirects.includes(statusCode) || headers.location === undefined) {
      return { kind: "response", url: request.url, response };
    }
    response.destroy();
    const location = URL.parse(headers.location, request.url.href);
    if (location === null) return failed(request.url, followed, "it redirects to an invalid URL");
    const target = route.sentLocation(location);
    const next = redirectedRequest(request, target, statusCode);
    if (typeof next === "string") return failed(target, followed + 1, next);
    request = next;
  }
  // Without its query, which may have a secret.
  const { origin, pathname } = first.url;
  return {
    kind: "failed",
    reason: `${origin}${pathname} has more than ${maxRedirects} redirects`,
  };
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
  { stream, path }: OpenRoute,
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

function failed({ origin, protocol }: URL, followed: number, reason: string): WebResponse {
  const where = origin === "null" ? `a URL of ${protocol.slice(0, 64)}` : origin;
  const subject = followed === 0 ? "" : `the redirect to ${where} was not followed: `;
  return { kind: "failed", reason: `${subject}${reason}` };
}
