import { Code, ConnectError } from "@connectrpc/connect";
import type { RunEvent, WatchRunRequest, WatchRunResponse } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { Problem } from "../../api/problem.ts";
import { isTransient, problemOf } from "../../api/problem.ts";
import { foldRun } from "../fold-run.ts";
import type { RunModel } from "../run-model.ts";
import { emptyRun } from "../run-model.ts";
import type { BegunWatch } from "./begun-watch.ts";
import { watchRequest } from "./begun-watch.ts";

export type FeedState = "connecting" | "live" | "lost" | "ended" | "refused";

/** What the views of a run read. A new object after each change. */
export interface RunSnapshot {
  readonly run: RunModel;
  readonly state: FeedState;
  readonly problem: Problem | undefined;
}

/** Opens a stream of `WatchRun`. */
export type OpenWatch = (
  request: Pick<WatchRunRequest, "runId" | "afterSequence" | "resumeToken"> & {
    readonly selection: WatchRunRequest["selection"];
  },
  signal: AbortSignal,
) => AsyncIterable<WatchRunResponse>;

export interface FeedParts {
  readonly open: OpenWatch;
  /** Calls back when it is time to draw. */
  readonly schedule: (draw: () => void) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Lets the browser draw and handle input if the events have kept it from that for a while. */
  readonly rest: () => Promise<void>;
  /** Resolves when the browser has drawn what was published. */
  readonly drawn: () => Promise<void>;
}

const firstDelayMs = 250;
const maxDelayMs = 5_000;

/**
 * The events of one run, which all views share. Follows the run live; after a lost connection, or a restart of the gateway, it
 * continues after the last event, so that each event is folded once and in order.
 */
export class RunFeed {
  readonly #parts: FeedParts;
  readonly #listeners = new Set<() => void>();
  #run: RunModel;
  #snapshot: RunSnapshot;
  #through = 0;
  #resumeToken = "";
  #following: AbortController | undefined;
  #isScheduled = false;
  #begun: BegunWatch | undefined;

  /** What has arrived of a watch that was begun is in the first snapshot; the rest comes when the run is followed. */
  constructor(runId: string, parts: FeedParts, begun?: BegunWatch) {
    this.#parts = parts;
    this.#run = emptyRun(runId);
    this.#snapshot = { run: this.#run, state: "connecting", problem: undefined };
    this.#begun = begun;
    if (begun?.first !== undefined) this.#receive(begun.first);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly snapshot = (): RunSnapshot => this.#snapshot;

  /** Follows the run until the returned function is called, or the run has ended. */
  follow(): () => void {
    if (this.#snapshot.state === "ended") {
      this.#begun?.giveUp();
      return () => undefined;
    }
    const following = new AbortController();
    this.#following?.abort();
    this.#following = following;
    void this.#followUntil(following.signal);
    return () => following.abort();
  }

  async #followUntil(signal: AbortSignal): Promise<void> {
    // The start of a long run is shown before the rest is folded.
    if (this.#begun !== undefined && this.#through > 0) await this.#parts.drawn();
    for (let failures = 0; !signal.aborted;) {
      try {
        for await (const message of this.#watch(signal)) {
          if (signal.aborted) return;
          failures = 0;
          const isFirst = this.#run.events.length === 0;
          this.#receive(message);
          if (message.endStatus !== RunStatus.UNSPECIFIED) return;
          await (isFirst ? this.#parts.drawn() : this.#parts.rest());
        }
        failures++;
        this.#change("lost", undefined);
      } catch (thrown) {
        if (signal.aborted) return;
        if (ConnectError.from(thrown).code === Code.DataLoss) this.#forget();
        else if (!isTransient(thrown)) return this.#change("refused", problemOf(thrown));
        failures++;
        this.#change("lost", problemOf(thrown));
      }
      const delayMs = Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
      await this.#parts.wait(delayMs, signal).catch(() => undefined);
    }
  }

  #watch(signal: AbortSignal): AsyncIterable<WatchRunResponse> {
    const begun = this.#begun?.follow(signal);
    this.#begun = undefined;
    if (begun !== undefined) return begun;
    const position = { afterSequence: this.#through, resumeToken: this.#resumeToken };
    return this.#parts.open(watchRequest(this.#run.runId, position), signal);
  }

  #receive({ events, throughSequence, resumeToken, endStatus }: WatchRunResponse): void {
    this.#resumeToken = resumeToken;
    for (const event of events) this.#fold(event);
    this.#through = Math.max(this.#through, throughSequence);
    this.#change(endStatus === RunStatus.UNSPECIFIED ? "live" : "ended", undefined);
  }

  #fold(event: RunEvent): void {
    if (event.sequence <= this.#through) return;
    this.#through = event.sequence;
    foldRun(this.#run, event);
  }

  /** The store lost events that were folded: begins again. */
  #forget(): void {
    this.#run = emptyRun(this.#run.runId);
    this.#through = 0;
    this.#resumeToken = "";
  }

  #change(state: FeedState, problem: Problem | undefined): void {
    const isLater = state === "live" && this.#snapshot.state === "live";
    if (!isLater) return this.#publish(state, problem);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#parts.schedule(() => {
      this.#isScheduled = false;
      if (this.#snapshot.state === "live") this.#publish("live", undefined);
    });
  }

  #publish(state: FeedState, problem: Problem | undefined): void {
    this.#snapshot = { run: this.#run, state, problem };
    for (const listener of this.#listeners) listener();
  }
}
