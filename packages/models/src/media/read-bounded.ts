import { ModelFailure } from "@reeve/engine/ports/model-provider";

/**
 * Reads all bytes of an answer, of which there may be at most `maxBytes`. Throws a ModelFailure when there are more: what follows is
 * not read.
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body ?? []) {
    received += chunk.length;
    if (received > maxBytes) {
      const message = `the answer is longer than ${maxBytes} bytes`;
      throw new ModelFailure("malformed", message, { retryable: false, answerBegan: true });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Throws a ModelFailure if an answer has another media type than one of `expected`: its server is not this API. */
export function assertType(
  { headers }: Pick<Response, "headers">,
  provider: string,
  expected: readonly string[],
): void {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  const actual = type.trim().toLowerCase();
  if (expected.some((each) => actual.startsWith(each))) return;
  const named = actual === "" ? "no media type" : actual;
  const message = `${provider} answered with ${named} instead of ${expected.join(" or ")}; check the address of its API`;
  throw new ModelFailure("malformed", message, { retryable: false });
}
