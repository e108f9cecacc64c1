import type { ExecEvent } from "../port.ts";

/** How much output waits for its reader before the command is held up. */
const maxWaitingBytes = 1 << 20;

interface Failed {
  readonly kind: "failed";
  readonly error: unknown;
}

/** What can be told to wait. */
export interface PausableSource {
  pause(): unknown;
  resume(): unknown;
}

/** Events of a command on their way to whoever reads them, who holds up their source when he does not. */
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

  /** Nothing waits for a reader who has gone away. */
  push(event: ExecEvent | Failed): void {
    if (this.#isRead) return;
    if (event.kind === "out") {
      this.#waitingBytes += event.bytes.length;
      if (this.#waitingBytes > maxWaitingBytes) this.#pause();
    }
    this.#waiting.push(event);
    this.#wake.resolve();
  }

  /** The events up to the end. Throws what a failure was. */
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
