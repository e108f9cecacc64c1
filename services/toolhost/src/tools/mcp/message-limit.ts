const lineFeed = 10;
const carriageReturn = 13;

/**
 * Returns the response with a body that fails when one message of it is larger than `maxBytes`. The limit of undici,
 * `maxResponseSize`, would end a stream of events by its total size instead.
 */
export function withMessageLimit(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const limit = new MessageLimit(maxBytes, isStream);
  const limited = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (limit.admits(chunk)) controller.enqueue(chunk);
        else controller.error(new Error(`a message is larger than ${maxBytes} bytes`));
      },
    }),
  );
  return new Response(limited, { status, statusText, headers });
}

/** Counts the bytes of the current message, which in a stream of events ends with an empty line. */
class MessageLimit {
  readonly #maxBytes: number;
  readonly #isStream: boolean;
  #bytes = 0;
  #isLineEmpty = true;

  constructor(maxBytes: number, isStream: boolean) {
    this.#maxBytes = maxBytes;
    this.#isStream = isStream;
  }

  admits(chunk: Uint8Array): boolean {
    if (!this.#isStream) {
      this.#bytes += chunk.length;
      return this.#bytes <= this.#maxBytes;
    }
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(lineFeed, from);
      const line = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#bytes += line.length + 1;
      if (this.#bytes > this.#maxBytes) return false;
      if (line.some((byte) => byte !== carriageReturn)) this.#isLineEmpty = false;
      if (end === -1) break;
      if (this.#isLineEmpty) this.#bytes = 0;
      this.#isLineEmpty = true;
      from = end + 1;
    }
    return true;
  }
}
