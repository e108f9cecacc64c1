import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import type { Log, EventRange, Tail } from "../../src/log/port.ts";
import type { RunKey } from "../../src/log/run-log.ts";
import type { ThreadKey } from "../../src/log/thread-log.ts";

type EventInit = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

let count = 0;

/** Returns the key of a new run. */
export function freshRun(): RunKey {
  return { tenant: "acme", run: `run_${++count}` };
}

/** Returns events that continue a log after `sequence`. */
export function eventsAfter(sequence: number, ...events: readonly EventInit[]): RunEvent[] {
  return events.map((event, index) =>
    create(RunEventSchema, { sequence: sequence + 1 + index, event }),
  );
}

export function text(words: string): EventInit {
  return { case: "text", value: { text: words } };
}

/** Returns a batch of texts after `tail`. */
export function texts({ sequence }: Tail, ...words: readonly string[]): RunEvent[] {
  return eventsAfter(sequence, ...words.map(text));
}

/** Returns the words of the texts, with their sequences: `1 hello`. */
export function wordsOf(events: readonly RunEvent[]): string[] {
  return events.map(
    ({ sequence, event }) => `${sequence} ${event.case === "text" ? event.value.text : event.case}`,
  );
}

/** Appends events, and returns the new tail. Throws on a conflict. */
export async function appendEvents<Key, Event>(
  log: Log<Key, Event>,
  key: Key,
  tail: Tail,
  events: readonly Event[],
  signal: AbortSignal,
): Promise<Tail> {
  const outcome = await log.append(key, tail, events, signal);
  if (outcome.kind === "conflict") throw new Error("another writer was first");
  return outcome.tail;
}

/** Returns the events of a follower up to `sequence`. */
export async function followUntil<Event>(
  ranges: AsyncIterable<EventRange<Event>>,
  sequence: number,
): Promise<Event[]> {
  const events: Event[] = [];
  for await (const range of ranges) {
    events.push(...range.events);
    if (range.tail.sequence >= sequence) break;
  }
  return events;
}

/** A kind of log, as its contract needs it. */
export interface LogKind<Key, Event extends { readonly sequence: number }> {
  /** Returns the key of a new log. */
  fresh(): Key;
  /** Returns the key of the log with the same name in another tenant. */
  inOtherTenant(key: Key): Key;
  /** Returns a batch with these words after `tail`. */
  batch(tail: Tail, ...words: readonly string[]): Event[];
  /** Returns the words of events, with their sequences: `1 hello`. */
  wordsOf(events: readonly Event[]): string[];
}

export const runLogKind: LogKind<RunKey, RunEvent> = {
  fresh: freshRun,
  inOtherTenant: ({ run }) => ({ tenant: "zenith", run }),
  batch: texts,
  wordsOf,
};

export const threadLogKind: LogKind<ThreadKey, ThreadEvent> = {
  fresh: () => ({ tenant: "acme", thread: `thread_${++count}` }),
  inOtherTenant: ({ thread }) => ({ tenant: "zenith", thread }),
  batch: ({ sequence }, ...words) =>
    words.map((runId, index) =>
      create(ThreadEventSchema, {
        sequence: sequence + 1 + index,
        event: { case: "turnStarted", value: { runId } },
      }),
    ),
  wordsOf: (events) =>
    events.map(
      ({ sequence, event }) =>
        `${sequence} ${event.case === "turnStarted" ? event.value.runId : event.case}`,
    ),
};

export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
