import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** How long what nobody reads may take to end, so that its connection can be kept. */
const graceMs = 1_000;

/**
 * A `fetch` over node:http that keeps connections, for requests with a text as body. What it gives can be read as
 * `status`, `headers`, `text()` and, once, as the bytes of `body`. It follows no redirects and knows no proxies. A
 * connection that is silent for `silenceMs`, before the answer begins or in its middle, is given up.
 */
export function keepAliveFetch(silenceMs: number): typeof fetch {
  const agents = {
    "http:": new HttpAgent({ keepAlive: true }),
    "https:": new HttpsAgent({ keepAlive: true }),
  };
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { method = "GET", body = "", signal } = init;
    if (typeof body !== "string") throw new TypeError("the body of a request is a text");
    const secure = url.protocol === "https:";
    const options = {
      method,
      agent: secure ? agents["https:"] : agents["http:"],
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        "content-length": Buffer.byteLength(body),
      },
      ...(signal && { signal }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = (secure ? httpsRequest : httpRequest)(url, options, resolve);
    request.on("error", reject);
    let answer: IncomingMessage | undefined;
    request.setTimeout(silenceMs, () => {
      const silence = new Error(`no byte came for ${silenceMs / 1_000} seconds`);
      // An answer that has begun tells its reader; before that, only the request is heard.
      (answer ?? request).destroy(Object.assign(silence, { code: "ETIMEDOUT" }));
    });
    request.end(body);
    answer = await promise;
    return responseOf(answer, url.href);
  };
}

/** The part of a Response that is used, without the cost of web streams. */
function responseOf(message: IncomingMessage, url: string): Response {
  const status = message.statusCode ?? 0;
  const response = {
    ok: status >= 200 && status < 300,
    status,
    statusText: message.statusMessage ?? "",
    headers: headersOf(message),
    url,
    body: bytesOf(message),
    async text() {
      const decoder = new TextDecoder();
      let text = "";
      for await (const piece of message) text += decoder.decode(piece as Buffer, { stream: true });
      return text + decoder.decode();
    },
  };
  // Its readers ask for no more than this.
  return response as unknown as Response;
}

async function* bytesOf(message: IncomingMessage): AsyncIterable<Uint8Array> {
  try {
    yield* message.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } finally {
    if (!message.complete) {
      const ending = setTimeout(() => message.destroy(), graceMs).unref();
      message.once("close", () => clearTimeout(ending));
    }
    message.resume();
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const single = Object.entries(headers).flatMap(([name, value = ""]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return new Headers(single);
}
