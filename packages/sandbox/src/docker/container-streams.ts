import type { Duplex } from "node:stream";
import { PassThrough } from "node:stream";

const headBytes = 8;
const standardError = 2;
const maxComplaint = 2_000;

/** Separates the streams of an attached container, which the engine sends as parts with a stream number and a length. */
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

  /** The beginning of standard error. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  /** Reads a chunk. Returns false if the reader of `output` must catch up first. */
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
