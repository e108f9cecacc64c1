import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { Stretch, Tail } from "../../src/log.ts";
import type { RunKey, RunLog } from "../../src/run-log.ts";

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
export async function appended(
  log: RunLog,
  key: RunKey,
  tail: Tail,
  events: readonly RunEvent[],
  signal: AbortSignal,
): Promise<Tail> {
  const outcome = await log.append(key, tail, events, signal);
  if (outcome.kind === "conflict") throw new Error("somebody else was first");
  return outcome.tail;
}

/** What a follower gives until it reached `sequence`. */
export async function followedTo(
  stretches: AsyncIterable<Stretch<RunEvent>>,
  sequence: number,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const stretch of stretches) {
    events.push(...stretch.events);
    if (stretch.tail.sequence >= sequence) break;
  }
  return events;
}
