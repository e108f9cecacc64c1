import { Code, ConnectError } from "@connectrpc/connect";
import { onAbort } from "../../async/on-abort.ts";
import type { HttpRequest } from "./http-handler.ts";

/**
 * Reads the next bytes of a body, or undefined at its end. Throws a ConnectError if the client closes the connection, and
 * the signal's reason when it aborts. The rest of the body remains readable.
 */
export async function nextChunk(
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const chunk = readChunk(request);
    if (chunk !== undefined) return chunk;
    if (request.readableEnded) return undefined;
    if (request.destroyed)
      throw new ConnectError("the client closed the connection", Code.Canceled);
    await changed(request, signal);
  }
}

/** Returns the bytes of a body that have arrived and were not read. Undefined: there are none now. */
export function readChunk(request: HttpRequest): Buffer | undefined {
  // No encoding is set, so that a chunk is a buffer.
  return (request.read() as Buffer | null) ?? undefined;
}

const changes = ["readable", "end", "close", "error"] as const;

/** Resolves when a body has more bytes, ends, or breaks. */
async function changed(request: HttpRequest, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using _ = onAbort(signal, () => reject(signal.reason));
  for (const change of changes) request.once(change, resolve);
  try {
    await promise;
  } finally {
    for (const change of changes) request.off(change, resolve);
  }
}
