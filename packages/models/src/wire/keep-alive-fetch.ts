import { Agent, errors, request } from "undici";
import type { Dispatcher } from "undici";

/** How long the unread end of an answer may take to arrive, so that its connection can be reused. */
const drainTimeoutMs = 1_000;

/** How long a connection without a request is kept, unless its server asks for another time. */
const keepAliveTimeoutMs = 60_000;

/**
 * Returns a `fetch` that reuses connections, for requests whose body is text. Of its response, only `ok`, `status`,
 * `statusText`, `headers`, `text()` and, once, the bytes of `body` can be used: the response has none of the cost of web
 * streams. Follows no redirects and uses no proxy. Fails with the code `ETIMEDOUT` when a connection is idle for
 * `idleTimeoutMs` until the first byte of the body, or for `streamIdleMs` between two bytes of it.
 */
export function keepAliveFetch(
  idleTimeoutMs: number,
  streamIdleMs: number = idleTimeoutMs,
): typeof fetch {
  const dispatcher = new Agent({
    connectTimeout: idleTimeoutMs,
    headersTimeout: idleTimeoutMs,
    bodyTimeout: Math.max(idleTimeoutMs, streamIdleMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // One HTTP/2 connection would carry all concurrent answers: if it is lost silently, every request waits for its timeout.
    allowH2: false,
  });
  const failureOf = (error: unknown): unknown => {
    if (!isTimeout(error)) return error;
    // Without the cause, which says less: provider failures quote the innermost one.
    return timedOut(idleTimeoutMs);
  };
  return async (input, init = {}) => {
    const { method = "GET", body = "", headers, signal = null } = init;
    if (typeof body !== "string") throw new TypeError("the body of the request is not text");
    const options: Parameters<typeof request>[1] = {
      dispatcher,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      body,
      signal,
    };
    try {
      const url = input instanceof Request ? input.url : input;
      return responseOf(await request(url, options), failureOf, streamIdleMs);
    } catch (error) {
      throw failureOf(error);
    }
  };
}

function timedOut(idleMs: number): Error {
  const message = `no byte came for ${idleMs / 1_000} seconds`;
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  );
}

function responseOf(
  { statusCode: status, statusText, headers, body }: Dispatcher.ResponseData<unknown>,
  failureOf: (error: unknown) => unknown,
  streamIdleMs: number,
): Response {
  const response = {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    headers: headersOf(headers),
    body: bytesOf(body, failureOf, streamIdleMs),
    text: () => textOf(bytesOf(body, failureOf, streamIdleMs)),
  };
  // The SDKs and `readAnswer` use no other member.
  return response as unknown as Response;
}

/** Texts are errors and small answers. The rest of a longer one is not read. */
const maxTextBytes = 8 * 2 ** 20;

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of bytes) {
    received += chunk.length;
    chunks.push(chunk);
    if (received > maxTextBytes) break;
  }
  return Buffer.concat(chunks).toString();
}

async function* bytesOf(
  body: Dispatcher.ResponseData["body"],
  failureOf: (error: unknown) => unknown,
  streamIdleMs: number,
): AsyncIterable<Uint8Array> {
  let idle: NodeJS.Timeout | undefined;
  try {
    for await (const bytes of body.iterator({ destroyOnReturn: false })) {
      clearTimeout(idle);
      // The time that the reader takes is not the server's.
      yield bytes as Uint8Array;
      idle = setTimeout(() => body.destroy(timedOut(streamIdleMs)), streamIdleMs);
    }
  } catch (error) {
    throw failureOf(error);
  } finally {
    clearTimeout(idle);
    void drained(body);
  }
}

/** Reads the rest of a body, for a second at most. Never rejects. */
async function drained(body: Dispatcher.ResponseData["body"]): Promise<void> {
  const late = new AbortController();
  // Not a signal with a timeout: it creates an exception with its stack when its time comes, however early the body ended.
  const timer = setTimeout(() => late.abort(), drainTimeoutMs).unref();
  try {
    await body.dump({ limit: Infinity, signal: late.signal });
  } catch {
    // The connection is not reused.
  } finally {
    clearTimeout(timer);
  }
}

function headersOf(headers: Dispatcher.ResponseData["headers"]): Headers {
  const single = Object.entries(headers).flatMap(([name, value = ""]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(single);
}
