import type { JsMsg } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import type { Clock } from "@reeve/platform/async/clock";
import { steadyClock } from "@reeve/platform/async/clock";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { StoredBatch } from "../../log/stored-batch.ts";
import { batchFromHeaders, batchOf } from "../../log/stored-batch.ts";
import { isKeysUnavailable, isTenantKeyDeleted } from "../../sealing/key-failures.ts";
import type { StoredMessage, StreamMessages } from "../../streams/stream-messages.ts";
import type { BatchOpener } from "../open-batch-content.ts";
import { isOfKinds } from "../open-batch-content.ts";
import type { FeedBatch, KindFilter } from "../port.ts";
import type { DueRetry, ReadProgress } from "./progress.ts";

/** How long one retry examines batches of a tenant to find the next one that has to be read again: other tenants wait meanwhile. */
const maxWalkMs = 5;

/** What decides which batches a reader gets. */
export interface IntakeOptions<Key, Event> {
  readonly messages: Pick<StreamMessages, "assigned" | "latest" | "lastSequence">;
  readonly opener: BatchOpener<Key, Event>;
  /** Returns the subjects of a tenant. */
  readonly filterOf: (tenant: string) => string;
  readonly kinds: KindFilter;
  /** Default: the clock of the machine. */
  readonly clock?: Pick<Clock, "now">;
}

/** A batch and its place. */
interface PlacedBatch {
  readonly subject: string;
  readonly batch: StoredBatch;
}

/**
 * Opens the batches that a stream delivers, and those again that could not be processed. Takes note in the progress of what becomes of
 * each.
 */
export class BatchIntake<Key, Event> {
  readonly #options: IntakeOptions<Key, Event>;
  readonly #progress: ReadProgress;
  /** Whether the progress has changed since the owner set it back. */
  isChanged = false;

  constructor(options: IntakeOptions<Key, Event>, progress: ReadProgress) {
    this.#options = options;
    this.#progress = progress;
  }

  /** Returns the batch of a new message. Undefined: the reader does not need it, or gets it later. */
  async take(message: JsMsg, signal: AbortSignal): Promise<FeedBatch<Key, Event> | undefined> {
    const { seq: sequence, subject, data, headers: described = headers() } = message;
    const placed = { subject, batch: batchFromHeaders(sequence, described, data) };
    const tenant = this.#options.opener.tenantOf(subject) ?? "";
    const opened = this.#progress.isBehind(tenant)
      ? this.#matches(placed) && "locked"
      : await this.#opened(placed, signal);
    if (opened === "locked") this.#progress.pass(tenant, sequence, steadyClock.now());
    // Not before: until now, the message was neither being processed nor waiting.
    this.#progress.reach(sequence);
    this.isChanged = true;
    return batchIn(opened);
  }

  /** Returns what is due, if it can be processed now. */
  async retry(due: DueRetry, signal: AbortSignal): Promise<FeedBatch<Key, Event> | undefined> {
    this.isChanged = true;
    if (due.kind === "tenant") return await this.#nextOf(due, signal);
    const { sequence } = due;
    const placed = placedBatch(await this.#options.messages.assigned(sequence));
    const opened = placed && (await this.#opened(placed, signal));
    if (opened === "locked") this.#progress.setAside(sequence, steadyClock.now());
    // Its log was deleted.
    if (placed === undefined) this.#progress.settle(sequence);
    return batchIn(opened);
  }

  /** Returns the next batch of a tenant that was passed, if it can be read now. */
  async #nextOf(
    { tenant, after, passed }: Extract<DueRetry, { kind: "tenant" }>,
    signal: AbortSignal,
  ): Promise<FeedBatch<Key, Event> | undefined> {
    const { messages, filterOf, clock = steadyClock } = this.#options;
    const progress = this.#progress;
    const next_by_subj = filterOf(tenant);
    let reached = after;
    let opened: FeedBatch<Key, Event> | "locked" | undefined;
    const endMs = clock.now() + maxWalkMs;
    do {
      const placed = placedBatch(await messages.latest({ next_by_subj, seq: reached + 1 }));
      if (placed === undefined && (await messages.lastSequence()) < passed) {
        throw storeUnavailable(new Error(`the leader is before ${passed}`));
      }
      if (placed === undefined || placed.batch.revision > passed) {
        progress.advance(tenant, passed, steadyClock.now());
        return undefined;
      }
      opened = await this.#opened(placed, signal);
      if (opened !== "locked") reached = placed.batch.revision;
    } while (opened === undefined && clock.now() < endMs);
    if (reached > after) progress.advance(tenant, reached, steadyClock.now());
    if (opened === "locked") progress.postpone(tenant, steadyClock.now());
    return batchIn(opened);
  }

  #matches({ batch }: PlacedBatch): boolean {
    return isOfKinds(batch, this.#options.kinds);
  }

  /** Returns a batch that is to be processed, or `locked` while the key of its tenant is not available, or is the wrong one. Takes note of the other reasons why it is not. */
  async #opened(
    placed: PlacedBatch,
    signal: AbortSignal,
  ): Promise<FeedBatch<Key, Event> | "locked" | undefined> {
    const { subject, batch } = placed;
    const { revision: sequence } = batch;
    const { opener } = this.#options;
    const progress = this.#progress;
    try {
      const opened = this.#matches(placed) ? await opener.open(subject, batch, signal) : undefined;
      if (opened !== undefined) {
        progress.begin(sequence, steadyClock.now());
        return { ...opened, acknowledge: () => this.#settle(sequence) };
      }
      progress.settle(sequence);
    } catch (error) {
      signal.throwIfAborted();
      // Nobody can ever read it, so projections do without it.
      if (isTenantKeyDeleted(error)) progress.settle(sequence);
      else if (isKeysUnavailable(error)) return "locked";
      else progress.setAside(sequence, steadyClock.now());
    }
    return undefined;
  }

  #settle(sequence: number): void {
    this.#progress.settle(sequence);
    this.isChanged = true;
  }
}

function batchIn<Batch extends object>(
  opened: Batch | "locked" | false | undefined,
): Batch | undefined {
  return typeof opened === "object" ? opened : undefined;
}

function placedBatch(stored: StoredMessage | undefined): PlacedBatch | undefined {
  const batch = batchOf(stored);
  return stored && batch && { subject: stored.subject, batch };
}
