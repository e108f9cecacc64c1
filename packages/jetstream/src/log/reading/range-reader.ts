import type { DescMessage } from "@bufbuild/protobuf";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import type { PayloadCipher, Place } from "../../sealing/payload-cipher.ts";
import type { LogDefinition } from "../definitions.ts";
import type { BatchPart } from "../follow/pending-batches.ts";
import { isHistoryLost } from "../history-lost.ts";
import type { EventRange, LogPart, Tail } from "../port.ts";
import { emptyTail, tailAt } from "../port.ts";
import { rangeOfBatches } from "../range-of-batches.ts";
import { placeOfLog } from "../shards/place-of-log.ts";
import { openBatch } from "../sealed-batch.ts";
import type { StoredBatch } from "../stored-batch.ts";
import type { SubjectReader } from "./subject-reader.ts";

/**
 * What a follower reads at a time of a log that is far ahead: it may be slow, and there may be many followers. Its reads may
 * lag: it never goes back, and looks again.
 */
const followed = { maxBytes: 512 * 1024, mayLag: true };

/** Reads ranges of a log as batches, opens the batches, and returns their events. Retries nothing. */
export class RangeReader<Key, Event, Schema extends DescMessage> {
  readonly #definition: LogDefinition<Key, Event, Schema>;
  readonly #channel: ChannelTemplate;
  readonly #reader: SubjectReader;
  readonly #cipher: PayloadCipher;

  constructor(
    definition: LogDefinition<Key, Event, Schema>,
    channel: ChannelTemplate,
    reader: SubjectReader,
    cipher: PayloadCipher,
  ) {
    this.#definition = definition;
    this.#channel = channel;
    this.#reader = reader;
    this.#cipher = cipher;
  }

  async read(
    subject: string,
    tail: Tail,
    limits: { readonly maxBytes: number; readonly mayLag: boolean },
    signal: AbortSignal,
  ): Promise<LogPart<Event>> {
    // Of this read alone: another one that runs may have forgotten the batches already.
    let usedRecent = false;
    const read = async () => {
      const { batches, hasRecent, ...rest } = await this.#reader.after(
        subject,
        tail,
        limits,
        signal,
      );
      usedRecent = hasRecent === true;
      return { ...(await this.rangeOf(subject, tail, batches, signal)), ...rest };
    };
    try {
      return await read();
    } catch (error) {
      // A batch that this process kept may be one that the store has lost, and replaced by another.
      if (!isHistoryLost(error) || !usedRecent) throw error;
      this.#reader.forget();
      return await read();
    }
  }

  async readFollowed(subject: string, after: Tail, signal: AbortSignal): Promise<BatchPart> {
    return { ...(await this.#reader.after(subject, after, followed, signal)), after };
  }

  /** Reads the last batch first: a reader that knows only a sequence usually has everything before it. */
  async readAfter(subject: string, afterSequence: number, signal: AbortSignal): Promise<BatchPart> {
    const last =
      afterSequence === 0 ? undefined : await this.#reader.last(subject, followed, signal);
    if (last === undefined || last.first > afterSequence + 1) {
      return await this.readFollowed(subject, emptyTail, signal);
    }
    return { batches: [last], after: tailAt(last.first - 1), isComplete: true };
  }

  rangeOf(
    subject: string,
    tail: Tail,
    batches: readonly StoredBatch[],
    signal: AbortSignal,
  ): Promise<EventRange<Event>> {
    const place = this.placeOf(subject);
    const open = (batch: StoredBatch) => openBatch(this.#cipher, place, batch, signal);
    return rangeOfBatches(this.#definition, { subject, open }, tail, batches);
  }

  /** Decrypts a batch, if it is stored encrypted. */
  open(
    subject: string,
    batch: StoredBatch,
    signal: AbortSignal,
  ): StoredBatch | Promise<StoredBatch> {
    return openBatch(this.#cipher, this.placeOf(subject), batch, signal);
  }

  placeOf(subject: string): Place {
    return placeOfLog(this.#definition.schema, this.#channel, subject);
  }
}
