import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../../failure.ts";
import type { HttpRequest } from "../http/http-handler.ts";
import { nextChunk, readChunk } from "../http/next-chunk.ts";
import type { RequestBytes } from "./held-bytes.ts";

/** Reads the body of a request in pieces of a given size. It holds at most the current piece. */
export class BodyReader {
  readonly #request: HttpRequest;
  readonly #held: RequestBytes;
  readonly #timeoutMs: number;
  #deadlineMs: number;
  #rest: readonly Buffer[] = [];

  constructor(request: HttpRequest, held: RequestBytes, timeoutMs: number) {
    this.#request = request;
    this.#held = held;
    this.#timeoutMs = timeoutMs;
    this.#deadlineMs = performance.now() + timeoutMs;
  }

  /** Starts the time for the next message. */
  restartTimeout(): void {
    this.#deadlineMs = performance.now() + this.#timeoutMs;
  }

  /** Reads `size` bytes; fewer if the body ends. Throws a Failure if they do not arrive in time. */
  async read(size: number): Promise<Buffer> {
    const pieces = [...this.#rest];
    let length = pieces.reduce((sum, { length: bytes }) => sum + bytes, 0);
    while (length < size) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      this.#held.add(chunk.length);
      pieces.push(chunk);
      length += chunk.length;
    }
    const all = Buffer.concat(pieces);
    this.#rest = all.length > size ? [all.subarray(size)] : [];
    return all.subarray(0, size);
  }

  async #next(): Promise<Buffer | undefined> {
    // Usually it has arrived.
    const arrived = readChunk(this.#request);
    if (arrived !== undefined) return arrived;
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(tooSlow(this.#timeoutMs)),
      Math.max(0, this.#deadlineMs - performance.now()),
    );
    try {
      return await nextChunk(this.#request, late.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

function tooSlow(timeoutMs: number): Failure {
  const message = `the body of the request did not arrive within ${timeoutMs} ms; send it faster, or in smaller messages`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
