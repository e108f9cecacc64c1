import type { SandboxCommand } from "../port.ts";
import { toAgent } from "./frames.ts";

/** How much of the input is on its way at a time, so that the agent never has to keep more. */
const windowBytes = 2 ** 18;
const partBytes = 2 ** 16;

/** The standard input of a command, given as fast as the command takes it. */
export class CallInput implements Disposable {
  readonly #send: (kind: "I" | "E", content?: Uint8Array) => void;
  #room = windowBytes;
  #isOver = false;
  #wake = Promise.withResolvers<void>();

  constructor(send: (kind: "I" | "E", content?: Uint8Array) => void) {
    this.#send = send;
  }

  /** Gives all of it. A command that does not read it is no mistake; what the source throws is thrown. */
  async sendAll(from: SandboxCommand["stdin"]): Promise<void> {
    const chunks = from === undefined ? [] : from instanceof Uint8Array ? [from] : from;
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

  consumed(bytes: number): void {
    this.#room += bytes;
    this.#wake.resolve();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  /** False once the command is over. */
  async #hasRoom(bytes: number): Promise<boolean> {
    while (!this.#isOver && this.#room < bytes) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
    return !this.#isOver;
  }
}
