import type { SandboxCommand } from "../port.ts";
import { toAgent } from "./frames.ts";

/** How much input may be in transit, which limits what the agent has to buffer. */
const windowBytes = 2 ** 18;
const partBytes = 2 ** 16;

/** Sends the standard input of a command as fast as the command reads it. */
export class CallInput implements Disposable {
  readonly #send: (kind: "I" | "E", content?: Uint8Array) => void;
  #room = windowBytes;
  #isOver = false;
  #wake = Promise.withResolvers<void>();

  constructor(send: (kind: "I" | "E", content?: Uint8Array) => void) {
    this.#send = send;
  }

  /** Sends all input. A command that does not read it is not an error. Rejects with an error of the source. */
  async sendAll(source: SandboxCommand["stdin"]): Promise<void> {
    const chunks = source === undefined ? [] : source instanceof Uint8Array ? [source] : source;
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += partBytes) {
        const part = chunk.subarray(at, at + partBytes);
        if (!(await this.#hasRoom(part.length))) return;
        this.#room -= part.length;
        this.#send(toAgent.input, part);
      }
    }
    if (!this.#isOver) this.#send(toAgent.inputEnd);
  }

  /** Reports that the command has read `bytes`. */
  consumed(bytes: number): void {
    this.#room += bytes;
    this.#wake.resolve();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  /** Waits until the window has room. Returns false once the command is over. */
  async #hasRoom(bytes: number): Promise<boolean> {
    while (!this.#isOver && this.#room < bytes) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
    return !this.#isOver;
  }
}
