export interface WebRequest {
  readonly url: URL;
  readonly method: string;
  /** Names are in lowercase. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Whether the request may use no credential of the call. Default: it has those for its host. */
  readonly isAnonymous?: boolean;
}

/** Headers that a redirect to another origin keeps. Others, with whatever name, may have secrets for the first one. */
const portableHeaders = ["accept", "accept-language", "content-type", "user-agent"];
/** Methods that have no effect, so that another server may name the place where they are repeated. */
const safeMethods = ["GET", "HEAD", "OPTIONS"];

/**
 * Returns the request that follows a redirect, or why none does. A POST that is not repeated becomes a GET without a body. Another
 * origin gets no credential, then and after further redirects, and nothing but safe methods without a body.
 */
export function redirectedRequest(
  request: WebRequest,
  url: URL,
  status: number,
): WebRequest | string {
  const { method, headers, body, isAnonymous = false } = request;
  if (request.url.protocol === "https:" && url.protocol === "http:") {
    return "it leaves https";
  }
  const becomesGet =
    (status === 303 && method !== "HEAD") || ([301, 302].includes(status) && method === "POST");
  const isSame = url.origin === request.url.origin;
  if (isSame && !becomesGet) return { ...request, url };
  if (!becomesGet && (!safeMethods.includes(method) || body !== undefined)) {
    return `a ${method} request is not repeated at another origin; send it there if it is meant to be`;
  }
  const kept = Object.entries(headers).filter(
    ([name]) =>
      (isSame || portableHeaders.includes(name)) && !(becomesGet && name.startsWith("content-")),
  );
  return {
    url,
    method: becomesGet ? "GET" : method,
    headers: Object.fromEntries(kept),
    isAnonymous: isAnonymous || !isSame,
  };
}
