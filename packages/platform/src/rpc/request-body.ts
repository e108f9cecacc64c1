import { ErrorReason } from "@reeve/contracts/error";
import { connectErrorOf } from "./connect-failure.ts";
import { Failure } from "../failure.ts";

/** The body of a request. */
export interface RequestBody {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads the rest of the body. Bytes that the handler left unread would block the next request on the connection forever. */
  drain(): Promise<void>;
}

/**
 * Limits the body of a request: reading more than `maxBytes` fails with reason TOO_LARGE. The protocol's own limits would
 * refuse such a request without a reason, before any interceptor runs. Undefined: no limit.
 */
export function requestBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number | undefined,
): RequestBody {
  const source = body[Symbol.asyncIterator]();
  let bytes = 0;
  const next = async () => {
    const chunk = await source.next();
    bytes += chunk.done === true ? 0 : chunk.value.length;
    if (maxBytes !== undefined && bytes > maxBytes) throw connectErrorOf(tooLarge(maxBytes));
    return chunk;
  };
  return {
    // Without `return`: a reader that stops early must not destroy the bytes that `drain` still has to read.
    chunks: { [Symbol.asyncIterator]: () => ({ next }) },
    async drain() {
      for (;;) if ((await source.next()).done === true) return;
    },
  };
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `the message is larger than ${maxBytes} bytes; pass large content as an artifact`,
  );
}
