import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { contentTypeStreamJson, contentTypeUnaryJson } from "@connectrpc/connect/protocol-connect";
import type { RequestBody } from "../body/request-body.ts";

/** The headers of a plain request that are also for the method: the credential and the trace. */
const passedOn = ["authorization", "traceparent", "tracestate"];

/** Returns a request message as the body that the Connect protocol would send. */
export function messageBody(given: Headers, method: DescMethod, message: JsonObject): RequestBody {
  const isUnary = method.methodKind === "unary";
  const header = new Headers({
    "content-type": isUnary ? contentTypeUnaryJson : contentTypeStreamJson,
  });
  for (const name of passedOn) {
    const value = given.get(name);
    if (value !== null) header.set(name, value);
  }
  const bytes = new TextEncoder().encode(JSON.stringify(message));
  return { header, chunks: once(isUnary ? bytes : encodeEnvelope(0, bytes)) };
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(body);
}
