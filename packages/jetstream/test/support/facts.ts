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

/** A run that nobody else has. */
export function freshRun(): RunKey {
  return { tenant: "acme", run: `run_${++count}` };
}

/** Events that continue a log after `sequence`. */
export function eventsAfter(sequence: number, ...events: readonly EventInit[]): RunEvent[] {
  return events.map((event, index) =>
    create(RunEventSchema, { sequence: sequence + 1 + index, event }),
  );
}

export function text(words: string): EventInit {
  return { case: "text", value: { text: words } };
}

/** One batch of texts after `tail`. */
export function texts({ sequence }: Tail, ...words: readonly string[]): RunEvent[] {
  return eventsAfter(sequence, ...words.map(text));
}

/** The words of the texts, with their sequences: `1 hello`. */
export function wordsOf(events: readonly RunEvent[]): string[] {
  return events.map(
    ({ sequence, event }) => `${sequence} ${event.case === "text" ? event.value.text : event.case}`,
  );
}

/** Appends and returns the new tail. Throws when somebody else was first. */
export async function appended<Key, Event>(
  log: Log<Key, Event>,
  key: Key,
  tail: Tail,
  events: readonly Event[],
  signal: AbortSignal,
): Promise<Tail> {
  const outcome = await log.append(key, tail, events, signal);
  if (outcome.kind === "conflict") throw new Error("somebody else was first");
  return outcome.tail;
}

/** What a follower gives until it reached `sequence`. */
export async function followedTo<Event>(
  stretches: AsyncIterable<EventRange<Event>>,
  sequence: number,
): Promise<Event[]> {
  const events: Event[] = [];
  for await (const stretch of stretches) {
    events.push(...stretch.events);
    if (stretch.tail.sequence >= sequence) break;
  }
  return events;
}

/** A sort of log, as far as its contract has to know it. */
export interface LogSort<Key, Event extends { readonly sequence: number }> {
  /** A log that nobody else has. */
  fresh(): Key;
  /** A log of the same name that belongs to another tenant. */
  elsewhere(key: Key): Key;
  /** One batch that says these words after `tail`. */
  batch(tail: Tail, ...words: readonly string[]): Event[];
  /** The words that events say, with their sequences: `1 hello`. */
  wordsOf(events: readonly Event[]): string[];
}

export const runSort: LogSort<RunKey, RunEvent> = {
  fresh: freshRun,
  elsewhere: ({ run }) => ({ tenant: "zenith", run }),
  batch: texts,
  wordsOf,
};

export const threadSort: LogSort<ThreadKey, ThreadEvent> = {
  fresh: () => ({ tenant: "acme", thread: `thread_${++count}` }),
  elsewhere: ({ thread }) => ({ tenant: "zenith", thread }),
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
