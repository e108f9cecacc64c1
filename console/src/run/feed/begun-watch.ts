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

/** A stream of `WatchRun` from the start of a run, requested before what shows the run was loaded. */
export class BegunWatch {
  readonly #ending = new AbortController();
  readonly #stream: AsyncIterator<WatchRunResponse>;
  readonly #arriving: Promise<IteratorResult<WatchRunResponse>>;
  readonly #unused: ReturnType<typeof setTimeout>;
  /** Resolves when the first message has arrived, or the stream has failed. */
  readonly arrived: Promise<void>;
  #first: WatchRunResponse | undefined;
  #isFirstTaken = false;

  constructor(open: (signal: AbortSignal) => AsyncIterable<WatchRunResponse>) {
    this.#stream = open(this.#ending.signal)[Symbol.asyncIterator]();
    this.#unused = setTimeout(() => this.#ending.abort(), maxUnusedMs);
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

  /** Returns the first message if it has arrived. It is not part of what follows then. */
  takeFirst(): WatchRunResponse | undefined {
    this.#isFirstTaken = this.#first !== undefined;
    return this.#first;
  }

  /** Returns the messages of the stream, once. Undefined: it was given up. */
  follow(signal: AbortSignal): AsyncIterable<WatchRunResponse> | undefined {
    clearTimeout(this.#unused);
    if (this.#ending.signal.aborted) return undefined;
    const end = () => this.#ending.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    return this.#messages();
  }

  async *#messages(): AsyncIterable<WatchRunResponse> {
    const { value, done } = await this.#arriving;
    if (done === true) return;
    if (!this.#isFirstTaken) yield value;
    const rest = this.#stream;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
}
