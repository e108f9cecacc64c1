import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createInflate, createGunzip } from "node:zlib";

/** Maximum size of the body of a response, compressed and decompressed. */
const maxBodyBytes = 10_000_000;

/** The body of a response, or the reason why it cannot be used. */
export type Body =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "failed"; readonly reason: string };

/** Reads the body of a response, and decompresses it. Stops at the maximum size. Rejects if the signal aborts. */
export async function readBody(
  response: IncomingMessage,
  signal: AbortSignal,
  maxBytes: number = maxBodyBytes,
): Promise<Body> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const decoded = decodedBody(response, encoding);
  if (decoded === undefined) {
    response.destroy();
    return { kind: "failed", reason: `the response has the unsupported encoding ${encoding}` };
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) return { kind: "failed", reason: tooLarge(maxBytes) };
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

function decodedBody(response: IncomingMessage, encoding: string): Readable | undefined {
  const decoder = decoders.get(encoding);
  if (encoding === "" || encoding === "identity") return response;
  // The reader sees the error of either stream.
  return decoder && pipeline(response, decoder(), () => undefined);
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
