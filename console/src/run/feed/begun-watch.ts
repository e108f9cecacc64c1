import type { WatchRunRequest, WatchRunResponse } from "@reeve/contracts/run";
import { allFamilies } from "../../format/names.ts";

/** A stream that nobody follows is given up after this time: browsers open only six connections to a server. */
const maxUnusedMs = 10_000;

/** Returns the request for all events of a run after a sequence. */
export function watchRequest(
  runId: string,
  { afterSequence, resumeToken }: Pick<WatchRunRequest, "afterSequence" | "resumeToken">,
) {
  const value = { $typeName: "reeve.run.v1.EventFamilies" as const, families: [...allFamilies] };
  return { runId, afterSequence, resumeToken, selection: { case: "families" as const, value } };
}

/**
 * A stream of `WatchRun` from the start of a run, requested before what shows the run was loaded. Only its first message is read before
 * somebody follows it. It ends when nobody does in time.
 */
export class BegunWatch {
  readonly #ending = new AbortController();
  readonly #stream: AsyncIterator<WatchRunResponse>;
  readonly #arriving: Promise<IteratorResult<WatchRunResponse>>;
  readonly #unused: ReturnType<typeof setTimeout>;
  readonly #onTaken: () => void;
  /** Resolves when the first message has arrived, or the stream has failed. */
  readonly arrived: Promise<void>;
  #first: WatchRunResponse | undefined;
  #isTaken = false;

  /** `onTaken` is called once, when the stream is followed or has been given up. */
  constructor(
    open: (signal: AbortSignal) => AsyncIterable<WatchRunResponse>,
    onTaken: () => void = () => undefined,
  ) {
    this.#onTaken = onTaken;
    this.#stream = open(this.#ending.signal)[Symbol.asyncIterator]();
    this.#unused = setTimeout(() => this.giveUp(), maxUnusedMs);
    this.#arriving = this.#stream.next();
    this.arrived = this.#keepFirst();
  }

  async #keepFirst(): Promise<void> {
    try {
      const { value, done } = await this.#arriving;
      if (done !== true) this.#first = value;
    } catch {
      // Who follows the stream gets the error.
    }
  }

  /** The first message if it has arrived. It is part of what follows, too: a rendering may be discarded before its run is followed. */
  get first(): WatchRunResponse | undefined {
    return this.#first;
  }

  /** Ends the stream, unless somebody follows it. */
  giveUp(): void {
    if (this.#take()) this.#ending.abort();
  }

  /** Returns all messages of the stream, once. Undefined: it was given up, or somebody follows it. */
  follow(signal: AbortSignal): AsyncIterable<WatchRunResponse> | undefined {
    if (!this.#take()) return undefined;
    const end = () => this.#ending.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    return this.#messages();
  }

  #take(): boolean {
    if (this.#isTaken) return false;
    this.#isTaken = true;
    clearTimeout(this.#unused);
    this.#onTaken();
    return true;
  }

  async *#messages(): AsyncIterable<WatchRunResponse> {
    try {
      const { value, done } = await this.#arriving;
      if (done === true) return;
      yield value;
      const rest = this.#stream;
      yield* { [Symbol.asyncIterator]: () => rest };
    } finally {
      // Who has read the end of the run reads no further.
      this.#ending.abort();
    }
  }
}
