import type { ExecEvent } from "../port.ts";

/** How much output may wait for its reader before the source is paused. */
const maxWaitingBytes = 1 << 20;

interface Failed {
  readonly kind: "failed";
  readonly error: unknown;
}

export interface PausableSource {
  pause(): unknown;
  resume(): unknown;
}

/** Queues the events of a command for one reader, and pauses their source while the reader is slow. */
export class ExecEvents {
  readonly #source: PausableSource;
  readonly #waiting: (ExecEvent | Failed)[] = [{ kind: "start" }];
  #waitingBytes = 0;
  #isPaused = false;
  #isRead = false;
  #wake = Promise.withResolvers<void>();

  constructor(source: PausableSource) {
    this.#source = source;
  }

  /** Adds an event. Ignored once the reader has stopped. */
  push(event: ExecEvent | Failed): void {
    if (this.#isRead) return;
    if (event.kind === "out") {
      this.#waitingBytes += event.bytes.length;
      if (this.#waitingBytes > maxWaitingBytes) this.#pause();
    }
    this.#waiting.push(event);
    this.#wake.resolve();
  }

  /** Yields the events up to the end. Throws the error of a failure. */
  async *read(): AsyncIterable<ExecEvent> {
    try {
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
    } finally {
      this.#isRead = true;
      this.#release(this.#waitingBytes);
    }
  }

  #pause(): void {
    this.#isPaused = true;
    this.#source.pause();
  }

  #release(count: number): void {
    this.#waitingBytes -= count;
    if (!this.#isPaused || this.#waitingBytes > maxWaitingBytes) return;
    this.#isPaused = false;
    this.#source.resume();
  }
}
