import { performance } from "node:perf_hooks";

/** The largest message that the library gets: a larger answer ends the browser. */
const maxAnswerBytes = 32 * 2 ** 20;
/** The library keeps some events, so larger ones are dropped, or end the browser if they say what the page is. */
const maxEventBytes = 2 ** 18;
/** What a page may make the browser report, so that it cannot keep this process busy. */
const maxEvents = 20_000;
const eventsPerSecond = 1_000;

const eventStart = Buffer.from('{"method":"');
/** Events that a page causes at will, and that no tool uses. */
const dropped = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"].map(
  (method) => Buffer.from(`${method}"`),
);

/** Events about requests. All others change what the library knows of the page, such as its address. */
const network = Buffer.from("Network.");

/** Cuts the output of a browser into messages, each of which ends with a zero byte, and leaves out what no tool needs. */
export class DevtoolsMessages {
  readonly #now: () => number;
  #parts: Uint8Array[] = [];
  #size = 0;
  #events = 0;
  #countedMs: number;

  /** `now` returns milliseconds. Default: monotonic time. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#countedMs = now();
  }

  /** Returns the messages that are complete now. Throws if the browser sends too much at once, too many events, or one that is too large and cannot be left out. */
  add(bytes: Uint8Array): readonly Buffer[] {
    const complete: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      const message = Buffer.concat([...this.#parts, bytes.subarray(start, end)]);
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      if (this.#isPassedOn(message)) complete.push(message);
    }
    const rest = bytes.subarray(start);
    this.#parts.push(rest);
    this.#size += rest.length;
    if (this.#size > maxAnswerBytes) throw new Error("the page is too large");
    return complete;
  }

  #isPassedOn(message: Buffer): boolean {
    if (!startsWith(message, eventStart, 0)) return true;
    if (dropped.some((method) => startsWith(message, method, eventStart.length))) return false;
    this.#countEvent();
    if (message.length <= maxEventBytes) return true;
    if (startsWith(message, network, eventStart.length)) return false;
    throw new Error("its address, or a text that the page reports, is too long");
  }

  #countEvent(): void {
    const now = this.#now();
    const forgotten = ((now - this.#countedMs) / 1_000) * eventsPerSecond;
    this.#events = Math.max(0, this.#events - forgotten) + 1;
    this.#countedMs = now;
    if (this.#events > maxEvents) throw new Error("the page does too much at once");
  }
}

function startsWith(message: Buffer, start: Buffer, at: number): boolean {
  return message.subarray(at, at + start.length).equals(start);
}
