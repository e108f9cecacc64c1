import { ErrorReason } from "@reeve/contracts/error";
import { connectErrorOf } from "./connect-failure.ts";
import { Failure } from "../failure.ts";

/** The bytes of a request on their way to its handler. */
export interface RequestBody {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads what the handler left: it would stand before the next request of the connection, and keep it for ever. */
  drain(): Promise<void>;
}

/**
 * The body of a request. It fails with reason TOO_LARGE when it has more than `maxBytes`: the protocols have limits of their
 * own, but refuse without a reason, before any interceptor is asked. Undefined: it may have any size.
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
    // Without `return`: a reader that stops early must not destroy what is still to be drained.
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
    `a message may have ${maxBytes} bytes; this one has more; pass large content as an artifact`,
  );
}
