import type { Transport } from "@connectrpc/connect";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { UniversalClientFn, UniversalHandler } from "@connectrpc/connect/protocol";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { peerCertificateOf } from "../tls/peer-certificate.ts";
import { readingStrictly } from "../strict/strict-json.ts";
import { setPeerOf } from "./credentials/client-certificates.ts";
import { setClientAddress } from "./http/client-address.ts";
import type { HttpRequest } from "./http/http-handler.ts";

/** The headers of a request that its calls have too: the credential and the trace. */
const passedOn = ["authorization", "traceparent", "tracestate"];

/** Returns a transport that calls the methods of this server as the caller of a request, in process. */
export function ownCalls(
  handlers: ReadonlyMap<string, UniversalHandler>,
  request: HttpRequest,
): Transport {
  return createTransport({
    httpClient: clientFor(handlers, request),
    baseUrl: "http://reeve.invalid",
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: Number.MAX_SAFE_INTEGER,
    readMaxBytes: maxMessageBytes,
    writeMaxBytes: maxMessageBytes,
  });
}

const maxMessageBytes = 0xffff_ffff;

function clientFor(
  handlers: ReadonlyMap<string, UniversalHandler>,
  request: HttpRequest,
): UniversalClientFn {
  return async ({ url, method, header, body, signal = neverAborts }) => {
    const handler = handlers.get(new URL(url).pathname);
    if (handler === undefined) {
      throw new ConnectError(`this server has no method ${url}`, Code.Unimplemented);
    }
    for (const name of passedOn) {
      const value = request.headers[name];
      if (typeof value === "string") header.set(name, value);
    }
    const contextValues = createContextValues();
    setClientAddress(contextValues, request.socket.remoteAddress ?? "");
    setPeerOf(contextValues, peerCertificateOf(request.socket));
    const answer = await readingStrictly(handler.method, () =>
      handler({
        httpVersion: "2.0",
        method,
        url,
        header,
        body: body ?? nothing(),
        signal,
        contextValues,
      }),
    );
    return {
      status: answer.status,
      header: new Headers(answer.header),
      body: answer.body ?? nothing(),
      trailer: new Headers(answer.trailer),
    };
  };
}

const neverAborts = new AbortController().signal;

async function* nothing(): AsyncIterable<Uint8Array> {}
