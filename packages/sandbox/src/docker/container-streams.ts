import type { Duplex } from "node:stream";
import { PassThrough } from "node:stream";

const headBytes = 8;
const standardError = 2;
const maxComplaint = 2_000;

/** The streams of an attached container, which the engine sends as one: each part with its number and length before it. */
export class ContainerStreams {
  readonly output = new PassThrough();
  #complaint = "";
  #waiting: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex) {
    socket.on("data", (chunk: Buffer) => {
      if (!this.#take(chunk)) {
        socket.pause();
        this.output.once("drain", () => socket.resume());
      }
    });
    socket.once("close", () => this.output.end());
    socket.on("error", () => this.output.end());
  }

  /** The first that was written to standard error. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  /** False when there is no room for more. */
  #take(chunk: Buffer): boolean {
    let hasRoom = true;
    this.#waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    while (this.#waiting.length >= headBytes) {
      const length = this.#waiting.readUInt32BE(4);
      if (this.#waiting.length < headBytes + length) break;
      const part = this.#waiting.subarray(headBytes, headBytes + length);
      if (this.#waiting[0] !== standardError) hasRoom = this.output.write(part);
      else if (this.#complaint.length < maxComplaint) this.#complaint += part.toString("utf8");
      this.#waiting = this.#waiting.subarray(headBytes + length);
    }
    return hasRoom;
  }
}
