import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventFamily, RunEvent, WatchRunRequestSchema } from "#contracts/run";
import { RunStatus } from "#contracts/run";
import type { Services } from "../connection.ts";
import type { ConnectionSource, LiveLimits, LiveOptions } from "./live-stream.ts";
import { liveStream } from "./live-stream.ts";

/** Where a watch starts, and which events it yields. */
export interface WatchOptions extends LiveOptions {
  /** Sequence of the last event that the caller has seen. Default: 0, which yields events from the beginning. */
  readonly after?: number;
  /** `resumeToken` of the watch that the caller continues. The server then checks that it still has the events up to `after`. */
  readonly resumeToken?: string;
  /** Whether to yield all events (the default), or only those that a person reads. */
  readonly detailed?: boolean;
  /** Exactly these families of events, instead of `detailed`. */
  readonly families?: readonly EventFamily[];
}

/**
 * The events of a run. `for await` yields each event once and in order, over any number of lost connections, and ends after
 * the run has ended. Throws a ReeveError if the server refuses, or if nothing is received for `reconnectTimeoutMs`. The reason
 * HISTORY_LOST means that the store lost events that this watch has yielded: discard them and watch again from the beginning. A second
 * loop continues after the last event of the first.
 */
export class Watch implements AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly #source: ConnectionSource<Pick<Services, "runs">>;
  readonly #limits: LiveLimits;
  readonly #options: WatchOptions;
  #throughSequence: number;
  #resumeToken: string;
  #endStatus: RunStatus = RunStatus.UNSPECIFIED;

  constructor(
    source: ConnectionSource<Pick<Services, "runs">>,
    limits: LiveLimits,
    runId: string,
    options: WatchOptions,
  ) {
    this.runId = runId;
    this.#source = source;
    this.#limits = limits;
    this.#options = options;
    this.#throughSequence = options.after ?? 0;
    this.#resumeToken = options.resumeToken ?? "";
  }

  /** The sequence up to which the caller has every requested event. Pass it as `after` to continue in another watch. */
  get throughSequence(): number {
    return this.#throughSequence;
  }

  /**
   * Names the history that was received. Pass it as `resumeToken`, with `throughSequence` as `after`, to continue in another
   * watch. Empty at first.
   */
  get resumeToken(): string {
    return this.#resumeToken;
  }

  /** How the run ended. UNSPECIFIED until the watch has ended. */
  get endStatus(): RunStatus {
    return this.#endStatus;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    if (this.#endStatus !== RunStatus.UNSPECIFIED) return;
    const stream = {
      name: `run ${this.runId}`,
      open: ({ runs }: Pick<Services, "runs">, call: { readonly signal: AbortSignal }) =>
        runs.watchRun(this.#request(), call),
    };
    const messages = liveStream(this.#source, stream, this.#limits, this.#options);
    for await (const { events, throughSequence, resumeToken, endStatus } of messages) {
      this.#resumeToken = resumeToken;
      for (const event of events) {
        if (event.sequence <= this.#throughSequence) continue;
        this.#throughSequence = event.sequence;
        yield event;
      }
      this.#throughSequence = Math.max(this.#throughSequence, throughSequence);
      this.#endStatus = endStatus;
      // Nothing follows the message with the end status, so how its stream ends does not matter.
      if (endStatus !== RunStatus.UNSPECIFIED) return;
    }
  }

  #request(): MessageInitShape<typeof WatchRunRequestSchema> {
    const { families, detailed = true } = this.#options;
    const position = {
      runId: this.runId,
      afterSequence: this.#throughSequence,
      resumeToken: this.#resumeToken,
    };
    if (families === undefined) {
      return { ...position, selection: { case: "detailed", value: detailed } };
    }
    return { ...position, selection: { case: "families", value: { families: [...families] } } };
  }
}
