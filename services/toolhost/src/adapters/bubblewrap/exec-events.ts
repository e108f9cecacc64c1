import type { Readable } from "node:stream";
import type { ExecEnd, ExecEvent, OutputStream } from "../../ports/sandbox.ts";

/** How much output waits for its reader before the command is held up. */
const mostWaitingBytes = 1 << 20;

interface Failed {
  readonly kind: "failed";
  readonly error: unknown;
}

/** Output of several streams as one sequence of events in order of arrival. It holds up its sources when nobody reads. */
export class ExecEvents {
  readonly #waiting: (ExecEvent | Failed)[] = [];
  readonly #sources: Readable[] = [];
  #waitingBytes = 0;
  #wake = Promise.withResolvers<void>();

  constructor() {
    this.#waiting.push({ kind: "start" });
  }

  /** Reads `source` from now on; `isWanted` says for each chunk whether it is to be seen. */
  add(stream: OutputStream, source: Readable, isWanted: (bytes: number) => boolean): void {
    this.#sources.push(source);
    source.on("error", () => undefined);
    source.on("data", (bytes: Buffer) => {
      if (!isWanted(bytes.length)) return;
      this.#waitingBytes += bytes.length;
      if (this.#waitingBytes > mostWaitingBytes) for (const each of this.#sources) each.pause();
      this.#push({ kind: "out", stream, bytes });
    });
  }

  end(end: ExecEnd): void {
    this.#push(end);
  }

  fail(error: unknown): void {
    this.#push({ kind: "failed", error });
  }

  /** The events up to the end. */
  async *read(): AsyncIterable<ExecEvent> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event === undefined) {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
        continue;
      }
      if (event.kind === "failed") throw event.error;
      if (event.kind === "out") this.#release(event.bytes.length);
      yield event;
      if (event.kind === "end") return;
    }
  }

  #push(event: ExecEvent | Failed): void {
    this.#waiting.push(event);
    this.#wake.resolve();
  }

  #release(count: number): void {
    this.#waitingBytes -= count;
    if (this.#waitingBytes > mostWaitingBytes) return;
    for (const source of this.#sources) if (source.isPaused()) source.resume();
  }
}
