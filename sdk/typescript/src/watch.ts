import { setTimeout as wait } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  EventFamily,
  RunEvent,
  WatchRunRequestSchema,
  WatchRunResponse,
} from "#contracts/run";
import { Code } from "@connectrpc/connect";
import { RunStatus } from "#contracts/run";
import type { Settings } from "./client-options.ts";
import type { Services } from "./connection.ts";
import { ReeveError } from "./reeve-error.ts";
import { delayBeforeRetry } from "./retry.ts";

/** Where a watch starts, and which events it yields. */
export interface WatchOptions {
  /** Sequence of the last event that the caller has seen. Default: 0, which yields events from the beginning. */
  readonly after?: number;
  /** `resumeToken` of the watch that the caller continues. The server then checks that it still has the events up to `after`. */
  readonly resumeToken?: string;
  /** Whether to yield all events (the default), or only those that a person reads. */
  readonly detailed?: boolean;
  /** Exactly these families of events, instead of `detailed`. */
  readonly families?: readonly EventFamily[];
  /** Called each time the connection is lost, before the watch reconnects. */
  readonly onConnectionLost?: (error: ReeveError) => void;
  readonly signal?: AbortSignal;
}

/** The current connection of a client. */
export interface ConnectionSource {
  readonly current: Pick<Services, "runs">;
  /** Replaces a connection that has been silent for too long. */
  replace(silent: Pick<Services, "runs">): void;
}

type WatchLimits = Pick<Settings, "idleTimeoutMs" | "reconnectTimeoutMs" | "token">;

/**
 * The events of a run. `for await` yields each event once and in order, over any number of lost connections, and ends after
 * the run has ended. Throws a ReeveError if the server refuses, or if nothing is received for `reconnectTimeoutMs`. The reason
 * HISTORY_LOST means that the store lost events that this watch has yielded: discard them and watch again from the beginning. A second
 * loop continues after the last event of the first.
 */
export class Watch implements AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly #source: ConnectionSource;
  readonly #limits: WatchLimits;
  readonly #options: WatchOptions;
  #throughSequence: number;
  #resumeToken: string;
  #endStatus: RunStatus = RunStatus.UNSPECIFIED;

  constructor(source: ConnectionSource, limits: WatchLimits, runId: string, options: WatchOptions) {
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
    const { signal, onConnectionLost } = this.#options;
    const { reconnectTimeoutMs, token } = this.#limits;
    const isRenewed = typeof token === "function";
    let deadline = performance.now() + reconnectTimeoutMs;
    for (let failures = 1; this.#endStatus === RunStatus.UNSPECIFIED; failures++) {
      try {
        for await (const { events, throughSequence, resumeToken, endStatus } of this.#messages()) {
          failures = 0;
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
          deadline = performance.now() + reconnectTimeoutMs;
        }
        throw ReeveError.lost(`the stream of run ${this.runId} ended before the run`);
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = ReeveError.from(thrown);
        // A token that was accepted for this stream has ended, and the next stream has another one.
        if (failures === 0 && error.code === Code.Unauthenticated && isRenewed) continue;
        const delayMs = delayBeforeRetry(error, Math.max(1, failures), deadline);
        onConnectionLost?.(error);
        await wait(delayMs, undefined, signal && { signal });
      }
    }
  }

  /** Yields the messages of one stream. Ends the stream when the caller leaves the loop. */
  async *#messages(): AsyncGenerator<WatchRunResponse, void, undefined> {
    const connection = this.#source.current;
    const leaving = new AbortController();
    const { signal = leaving.signal } = this.#options;
    const { idleTimeoutMs } = this.#limits;
    const stream = connection.runs.watchRun(this.#request(), {
      signal: AbortSignal.any([signal, leaving.signal]),
    });
    const messages = stream[Symbol.asyncIterator]();
    const silent = ReeveError.lost(
      `the stream of run ${this.runId} was silent for ${idleTimeoutMs} ms`,
    );
    try {
      for (;;) {
        const timer = setTimeout(() => leaving.abort(silent), idleTimeoutMs);
        const next = await messages.next().finally(() => clearTimeout(timer));
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      this.#source.replace(connection);
      throw silent;
    } finally {
      leaving.abort();
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
