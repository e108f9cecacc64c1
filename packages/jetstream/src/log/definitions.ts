import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Tokens } from "@reeve/contracts/channel";
import type { RunEvent } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadBatchSchema } from "@reeve/contracts/thread";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { ToolCallJournalSchema } from "@reeve/contracts/tool";
import type { CallKey } from "./call-journal.ts";
import { callUsesReserve, runUsesReserve, threadUsesReserve } from "./reserve-use.ts";
import type { RunKey } from "./run-log.ts";
import type { ThreadKey } from "./thread-log.ts";

/** The content of a batch. */
export interface BatchContent<Event> {
  readonly firstSequence: number;
  readonly events: readonly Event[];
  readonly previousDigest: Uint8Array;
}

/** Maps the keys and events of one kind of log to subjects and to the message that carries a batch. */
export interface LogDefinition<Key, Event, Schema extends DescMessage> {
  readonly schema: Schema;
  tokens(key: Key): Tokens;
  /** Returns the key with these tokens, or undefined when one is missing. */
  keyOf(tokens: Tokens): Key | undefined;
  batch(
    firstSequence: number,
    events: readonly Event[],
    previousDigest: Uint8Array,
    /** Random bytes of a batch that is stored encrypted. */
    salt?: Uint8Array,
  ): MessageShape<Schema>;
  eventsOf(batch: MessageShape<Schema>): BatchContent<Event>;
  /** Returns the kinds of the events, for projections that filter batches without reading their payload. */
  kinds(events: readonly Event[]): readonly string[];
  /** Whether a batch of so many bytes may use the reserve of a full store. */
  usesReserve(events: readonly Event[], bytes: number): boolean;
  /** Whether logs that have ended may be moved to the archive. Default: they are not. */
  readonly isArchived?: boolean;
}

export const runLogDefinition: LogDefinition<RunKey, RunEvent, typeof RunBatchSchema> = {
  schema: RunBatchSchema,
  tokens: ({ tenant, run }) => ({ tenant, run }),
  keyOf: ({ tenant, run }) =>
    tenant !== undefined && run !== undefined ? { tenant, run } : undefined,
  batch: (firstSequence, events, previousDigest, salt) =>
    create(RunBatchSchema, {
      firstSequence,
      events: [...events],
      previousDigest,
      ...(salt && { salt }),
    }),
  eventsOf: (batch) => batch,
  kinds: (events) => [...new Set(events.map(({ event }) => event.case ?? "unknown"))],
  usesReserve: runUsesReserve,
  isArchived: true,
};

export const threadLogDefinition: LogDefinition<ThreadKey, ThreadEvent, typeof ThreadBatchSchema> =
  {
    schema: ThreadBatchSchema,
    tokens: ({ tenant, thread }) => ({ tenant, thread }),
    keyOf: ({ tenant, thread }) =>
      tenant !== undefined && thread !== undefined ? { tenant, thread } : undefined,
    batch: (firstSequence, events, previousDigest, salt) =>
      create(ThreadBatchSchema, {
        firstSequence,
        events: [...events],
        previousDigest,
        ...(salt && { salt }),
      }),
    eventsOf: (batch) => batch,
    kinds: (events) => [...new Set(events.map(({ event }) => event.case ?? "unknown"))],
    usesReserve: threadUsesReserve,
  };

export const callJournalDefinition: LogDefinition<
  CallKey,
  ToolCallFact,
  typeof ToolCallJournalSchema
> = {
  schema: ToolCallJournalSchema,
  tokens: ({ tenant, run, call }) => ({ tenant, run, call }),
  keyOf: ({ tenant, run, call }) =>
    tenant !== undefined && run !== undefined && call !== undefined
      ? { tenant, run, call }
      : undefined,
  batch: (firstSequence, facts, previousDigest, salt) =>
    create(ToolCallJournalSchema, {
      firstSequence,
      facts: [...facts],
      previousDigest,
      ...(salt && { salt }),
    }),
  eventsOf: ({ firstSequence, facts, previousDigest }) => ({
    firstSequence,
    events: facts,
    previousDigest,
  }),
  kinds: (facts) => [...new Set(facts.map(({ fact }) => fact.case ?? "unknown"))],
  usesReserve: callUsesReserve,
};
