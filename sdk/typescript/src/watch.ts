import type { MessageInitShape } from "@bufbuild/protobuf";
import { backOff } from "./back-off.ts";
import type { Services } from "./connection.ts";
import type { EventFamily, RunEvent } from "./gen/reeve/run/v1/run_event_pb.ts";
import { RunStatus } from "./gen/reeve/run/v1/run_event_pb.ts";
import type { WatchRunRequestSchema, WatchRunResponse } from "./gen/reeve/run/v1/run_service_pb.ts";
import type { Settings } from "./options.ts";
import { ReeveError } from "./reeve-error.ts";

export interface WatchOptions {
  /** The last sequence that was seen. Default: 0, from the beginning. */
  readonly after?: number;
  /** Everything (true, and the default), or what a person reads. */
  readonly detailed?: boolean;
  /** Exactly these families, instead of `detailed`. */
  readonly families?: readonly EventFamily[];
  readonly signal?: AbortSignal;
}

/** Where the streams of a watch come from. A stream that is silent makes its connection suspect. */
export interface Source {
  readonly current: Pick<Services, "runs">;
  renew(suspect: Pick<Services, "runs">): void;
}

/**
 * The events of a run: `for await` gives each once and in order, over any number of lost connections, and ends after the
 * run has ended. Throws a ReeveError when the server refuses, or when nothing came for `patienceMs`; iterated again, it goes
 * on from where it was.
 */
export class Watch implements AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly #source: Source;
  readonly #settings: Settings;
  readonly #options: WatchOptions;
  #throughSequence: number;
  #endStatus: RunStatus = RunStatus.UNSPECIFIED;

  constructor(source: Source, settings: Settings, runId: string, options: WatchOptions) {
    this.runId = runId;
    this.#source = source;
    this.#settings = settings;
    this.#options = options;
    this.#throughSequence = options.after ?? 0;
  }

  /** Nothing that was asked for is missing up to this sequence: the place from which to watch again. */
  get throughSequence(): number {
    return this.#throughSequence;
  }

  /** How the run ended; UNSPECIFIED until the watch has come to its end. */
  get endStatus(): RunStatus {
    return this.#endStatus;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    const { signal } = this.#options;
    let until = performance.now() + this.#settings.patienceMs;
    for (let failures = 1; this.#endStatus === RunStatus.UNSPECIFIED; failures++) {
      try {
        for await (const { events, throughSequence, endStatus } of this.#connected()) {
          failures = 0;
          for (const event of events) {
            if (event.sequence <= this.#throughSequence) continue;
            this.#throughSequence = event.sequence;
            yield event;
          }
          this.#throughSequence = Math.max(this.#throughSequence, throughSequence);
          this.#endStatus = endStatus;
          until = performance.now() + this.#settings.patienceMs;
        }
        if (this.#endStatus !== RunStatus.UNSPECIFIED) return;
        throw ReeveError.lost(`the stream of run ${this.runId} ended before the run`);
      } catch (error) {
        signal?.throwIfAborted();
        await backOff(ReeveError.from(error), Math.max(1, failures), until, signal);
      }
    }
  }

  /** What one connection gives. Whoever leaves ends the stream. */
  async *#connected(): AsyncGenerator<WatchRunResponse, void, undefined> {
    const connection = this.#source.current;
    const leaving = new AbortController();
    const { signal = leaving.signal } = this.#options;
    const stream = connection.runs.watchRun(this.#request(), {
      signal: AbortSignal.any([signal, leaving.signal]),
    });
    const messages = stream[Symbol.asyncIterator]();
    const silent = ReeveError.lost(
      `nothing was heard of run ${this.runId} for ${this.#settings.silenceMs} ms`,
    );
    try {
      for (;;) {
        const timer = setTimeout(() => leaving.abort(silent), this.#settings.silenceMs);
        const next = await messages.next().finally(() => clearTimeout(timer));
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      this.#source.renew(connection);
      throw silent;
    } finally {
      leaving.abort();
    }
  }

  #request(): MessageInitShape<typeof WatchRunRequestSchema> {
    const { families, detailed = true } = this.#options;
    const place = { runId: this.runId, afterSequence: this.#throughSequence };
    if (families === undefined)
      return { ...place, selection: { case: "detailed", value: detailed } };
    return { ...place, selection: { case: "families", value: { families: [...families] } } };
  }
}
