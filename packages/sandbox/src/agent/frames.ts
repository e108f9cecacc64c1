/** Messages to the agent. The agent's program has the same table. */
export const toAgent = {
  call: "C",
  input: "I",
  inputEnd: "E",
  stop: "K",
  programs: "P",
} as const;

/** Messages from the agent. */
export const fromAgent = {
  ready: "R",
  started: "B",
  consumed: "T",
  end: "X",
  settled: "S",
  alive: "A",
  stdout: "o",
  stderr: "e",
  result: "r",
} as const;

export interface Frame {
  readonly kind: string;
  readonly content: Buffer;
}

const headBytes = 5;
/** The agent is our program, but a broken or compromised one must not fill our memory. */
const maxBytes = 2 ** 20;

/** Encodes a message: the length of its content, a letter for its kind, and the content. */
export function frameOf(
  kind: (typeof toAgent)[keyof typeof toAgent],
  content: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(content.length);
  head.write(kind, headBytes - 1);
  return Buffer.concat([head, content]);
}

/** Splits a stream of bytes into messages. */
export class FrameReader {
  #waiting: Buffer[] = [];
  #bytes = 0;

  /** Yields the messages that this chunk completes. Throws if a message is longer than the agent sends. */
  *read(chunk: Buffer): Iterable<Frame> {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < headBytes) return;
    let rest = Buffer.concat(this.#waiting);
    let contentLength = lengthOf(rest);
    while (contentLength !== undefined && rest.length >= headBytes + contentLength) {
      const kind = String.fromCharCode(rest[headBytes - 1] ?? 0);
      yield { kind, content: rest.subarray(headBytes, headBytes + contentLength) };
      rest = rest.subarray(headBytes + contentLength);
      contentLength = lengthOf(rest);
    }
    this.#waiting = [rest];
    this.#bytes = rest.length;
  }
}

function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < headBytes) return undefined;
  const length = bytes.readUInt32BE(0);
  if (length > maxBytes) throw new Error(`the agent sent a message of ${length} bytes`);
  return length;
}
