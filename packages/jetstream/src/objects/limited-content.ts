import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/**
 * The chunks of a file that is being stored. Throws a Failure with reason TOO_LARGE when there are more than `maxBytes`, and
 * the signal's reason at once when it aborts, even while the source is silent.
 */
export async function* limitedContent(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => undefined);
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  const chunks = content[Symbol.asyncIterator]();
  let isDone = false;
  let sizeBytes = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([chunks.next(), aborted]);
      if (next.done === true) {
        isDone = true;
        return;
      }
      sizeBytes += next.value.length;
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // Not awaited: a silent source would never answer.
    if (!isDone) chunks.return?.()?.catch(() => undefined);
  }
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `a file may have ${maxBytes} bytes; this one has more`,
  );
}
