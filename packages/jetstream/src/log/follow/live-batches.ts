import { setImmediate as endOfTurn } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { Tail } from "../port.ts";
import type { StoredBatch } from "../stored-batch.ts";
import { liveHubOf } from "./live-hub.ts";
import { batchFromMessage } from "../stored-batch.ts";

/** What `LiveBatches` needs of a log. */
export interface LiveSource {
  readonly connection: NatsConnection;
  readonly liveSubject: string;
  /** After how much quiet time to compare with the stored tail: a lost last message is invisible otherwise. */
  readonly tailCheckMs: number;
}

/** How much may wait for a slow reader. More is dropped, and read from the store at the reader's own pace. */
const maxWaitingBatches = 256;
const maxWaitingBytes = 256 * 1024;

/** The batches that the stream republishes, or that writers in this process pass on, in a bounded queue. */
export class LiveBatches implements Disposable {
  /** Whether the store has, or may have, batches that do not arrive here. */
  isBehind = false;
  readonly #tailCheckMs: number;
  readonly #arrived = new Wakeup();
  readonly #resources = new DisposableStack();
  #waiting: StoredBatch[] = [];
  #bytes = 0;
  #knownSequence = 0;
  /** What the reader has without having got it here. */
  #skipped: Tail | undefined;

  constructor({ connection, liveSubject, tailCheckMs }: LiveSource) {
    this.#tailCheckMs = tailCheckMs;
    const receive = (batch: StoredBatch | undefined) => {
      if (batch === undefined || batch.marker !== undefined) return;
      if (batch.last > this.#knownSequence) this.#add(batch);
    };
    const hub = liveHubOf(connection);
    if (hub === undefined) {
      const subscription = connection.subscribe(liveSubject, {
        callback: (error, message) => {
          receive(error === null ? batchFromMessage(message) : undefined);
        },
      });
      this.#resources.defer(() => subscription.unsubscribe());
    } else this.#resources.use(hub.receive(liveSubject, receive));
    this.#resources.defer(connectionStateOf(connection).onChange(() => this.#fallBehind()));
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
  }

  /** Listens to the signal of many `next`s, until the returned object is disposed. */
  bind(signal: AbortSignal): Disposable {
    return this.#arrived.bind(signal);
  }

  /** Ignores batches up to `tail` from now on. */
  skipTo(tail: Tail): void {
    this.#knownSequence = this.laterOf(tail).sequence;
  }

  /** Takes note that the reader has everything up to `tail`. */
  skip(tail: Tail): void {
    this.#skipped = tail;
    this.skipTo(tail);
  }

  /** Returns where the reader is that got everything here up to `cursor`. */
  laterOf(cursor: Tail): Tail {
    const skipped = this.#skipped;
    return skipped !== undefined && skipped.sequence > cursor.sequence ? skipped : cursor;
  }

  /**
   * Waits for batches that follow `cursor`, and what was skipped meanwhile. Returns undefined when the store has to be read
   * instead. Returns all that arrived meanwhile: a slower reader gets more at a time.
   */
  async next(cursor: Tail, signal: AbortSignal): Promise<readonly StoredBatch[] | undefined> {
    while (!this.isBehind) {
      // The answer to an append arrives just after the batch. The writer takes note of it in the same turn.
      if (this.#skipped !== undefined && this.#waiting.length > 0) await endOfTurn();
      const { sequence } = this.laterOf(cursor);
      const batches = this.#waiting.filter(({ last }) => last > sequence);
      this.#clear();
      if (batches.length > 0) {
        if (areConsecutive(sequence, batches)) return batches;
        this.isBehind = true;
      } else {
        // With jitter, so that followers do not all read the tail at the same moment.
        const quietMs = this.#tailCheckMs * (1 + Math.random() / 4);
        if (!(await this.#arrived.waitFor(quietMs, signal))) this.isBehind = true;
      }
    }
    return undefined;
  }

  #add(batch: StoredBatch): void {
    this.#bytes += batch.data.length;
    const length = this.#waiting.push(batch);
    // One waits whatever its size, so that a reader that keeps up gets it from here.
    if (length > maxWaitingBatches || (length > 1 && this.#bytes > maxWaitingBytes)) {
      this.#fallBehind();
    }
    this.#arrived.notify();
  }

  #fallBehind(): void {
    this.#clear();
    this.isBehind = true;
    this.#arrived.notify();
  }

  #clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
  }
}

function areConsecutive(sequence: number, batches: readonly StoredBatch[]): boolean {
  let reached = sequence;
  return batches.every(({ first, last }) => {
    const continues = first <= reached + 1;
    reached = last;
    return continues;
  });
}
