import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";

/**
 * Yields the chunks of a file that is being stored. Throws a Failure with reason TOO_LARGE when they exceed `maxBytes`. Throws
 * the signal's reason as soon as it aborts, even while the source yields nothing.
 */
export async function* limitedContent(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  let isDone = false;
  let sizeBytes = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await abortable(chunks.next(), signal);
      if (next.done === true) {
        isDone = true;
        return;
      }
      sizeBytes += next.value.length;
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
      yield next.value;
    }
  } finally {
    // Not awaited: a source that waits for its next chunk might never answer.
    if (!isDone) chunks.return?.()?.catch(() => undefined);
  }
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `the file exceeds the limit of ${maxBytes} bytes`,
  );
}
