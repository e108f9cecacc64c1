import type { Readable } from "node:stream";
import type { ExecEvent, OutputStream } from "../../ports/sandbox.ts";

/** How much output waits for its reader before the command is held up. */
const mostWaitingBytes = 1 << 20;

/** Output of several streams as one sequence of events, in the order of arrival, which holds up its sources when nobody reads. */
export class ExecEvents {
  readonly #waiting: ExecEvent[] = [];
  readonly #sources: Readable[] = [];
  #waitingBytes = 0;
  #wake = Promise.withResolvers<void>();

  add(stream: OutputStream, source: Readable, onBytes: (count: number) => boolean): void {
    this.#sources.push(source);
    source.on("error", () => undefined);
    source.on("data", (bytes: Buffer) => {
      if (!onBytes(bytes.length)) return;
      this.#waitingBytes += bytes.length;
      if (this.#waitingBytes > mostWaitingBytes) for (const each of this.#sources) each.pause();
      this.push({ kind: "out", stream, bytes });
    });
  }

  push(event: ExecEvent): void {
    this.#waiting.push(event);
    this.#wake.resolve();
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
      if (event.kind === "out") this.#release(event.bytes.length);
      yield event;
      if (event.kind === "end") return;
    }
  }

  #release(count: number): void {
    this.#waitingBytes -= count;
    if (this.#waitingBytes > mostWaitingBytes) return;
    for (const source of this.#sources) if (source.isPaused()) source.resume();
  }
}
