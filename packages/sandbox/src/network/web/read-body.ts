import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createInflate, createGunzip } from "node:zlib";

/** Maximum size of the body of a response, compressed and decompressed. */
const maxBodyBytes = 10_000_000;

/** The body of a response, or the reason why it cannot be used. */
export type Body =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "failed"; readonly reason: string; readonly isTooLarge?: true };

/**
 * Reads the body of a response, and decompresses it. A response without a body, such as one to HEAD, has none in any encoding. Stops
 * at the maximum size, or at a size for which `hasRoom` returns false. Rejects if the signal aborts.
 */
export async function readBody(
  response: IncomingMessage,
  signal: AbortSignal,
  maxBytes: number = maxBodyBytes,
  hasRoom: (bytes: number) => boolean = () => true,
): Promise<Body> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const received = (response as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const first = await received.next();
    if (first.done === true) return { kind: "read", bytes: new Uint8Array() };
    const decoded = decodedBody(joined(first.value, received), encoding);
    if (decoded === undefined) {
      return { kind: "failed", reason: `the response has the unsupported encoding ${encoding}` };
    }
    for await (const chunk of decoded) {
      size += chunk.byteLength;
      if (size > maxBytes || !hasRoom(size)) {
        return { kind: "failed", reason: tooLarge(maxBytes), isTooLarge: true };
      }
      chunks.push(chunk);
    }
    return { kind: "read", bytes: Buffer.concat(chunks) };
  } catch (error) {
    signal.throwIfAborted();
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason: `the response broke off: ${problem}` };
  } finally {
    response.destroy();
  }
}

/** Returns the first part of a body, and what comes after it. */
async function* joined(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function decodedBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncIterable<Uint8Array> | undefined {
  const decoder = decoders.get(encoding);
  if (encoding === "" || encoding === "identity") return body;
  // The reader sees the error of either stream.
  return decoder && pipeline(body, decoder(), () => undefined);
}

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

function tooLarge(maxBytes: number): string {
  return `the response has more than ${maxBytes} bytes`;
}
