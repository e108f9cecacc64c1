import { clone, create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { falseAlarms } from "./support/check-calls.ts";
import { runViolations } from "./support/check-run.ts";
import type { RunEvidence } from "./support/evidence.ts";
import { keptRun, toolFact } from "./support/told-run.ts";

const hurt = (host: string) => host === "toolhost-1";
const unknown = "the outcome of this call is unknown: the toolhost that ran it is gone.";
type Spoil = (evidence: RunEvidence) => RunEvidence;

test("a run that kept every promise breaks none", () => {
  expect(runViolations(keptRun())).toEqual([]);
});

test.each<[string, RegExp, Spoil]>([
  ["an event is missing", /event 9 has the sequence 10/, logged((log) => log.toSpliced(8, 1))],
  ["there are two ends", /2 terminal events/, logged((log) => [...log, next(log, log.at(-1))])],
  ["there is no end", /0 terminal events/, logged((log) => log.slice(0, -1))],
  [
    "something follows the end",
    /text \d+ follows the end/,
    logged((log) => [...log, next(log, kind(log, "text"))]),
  ],
  [
    "two events have changed places",
    /toolCall: comes before the usage/,
    logged((log) => swapped(log, "usage", "toolCall")),
  ],
  [
    "a call has two results",
    /has 2 results/,
    logged((log) => inserted(log, kind(log, "toolResult"))),
  ],
  ["a call has no result", /has no result/, logged((log) => without(log, "toolResult"))],
  [
    "the client missed an event",
    /saw \d+ of \d+ events/,
    watched((events) => events.toSpliced(4, 1)),
  ],
  [
    "the client saw an event twice",
    /saw another event 6/,
    watched((events) => events.toSpliced(4, 0, ...events.slice(4, 5))),
  ],
  [
    "the client saw another event than is stored",
    /saw another event 5 /,
    watched((events) => events.with(4, altered(events[4]))),
  ],
  [
    "the client was told what is wrong",
    /INTERNAL/,
    (evidence) => ({ ...evidence, seen: { ...evidence.seen, wrong: ["INTERNAL"] } }),
  ],
  ["the run is forgotten", /did not end/, (evidence) => ({ ...evidence, stuck: "lost" })],
  [
    "it was cancelled and completed",
    /ended as COMPLETED/,
    (evidence) => ({ ...evidence, seen: { ...evidence.seen, cancel: "cancelled" } }),
  ],
  [
    "it was cancelled and nobody had asked",
    /ended as CANCELLED/,
    logged((log) => [...log.slice(0, -1), withStatus(log.at(-1), RunStatus.CANCELLED)]),
  ],
  [
    "a gateway shows it as another",
    /shows it as RUNNING/,
    (evidence) => ({ ...evidence, shown: [RunStatus.RUNNING] }),
  ],
])("that %s is found", (_, finding, spoil) => {
  expect(runViolations(spoil(keptRun()))).toContainEqual(expect.stringMatching(finding));
});

describe("of the effects of a run it is found that", () => {
  test.each<[string, RegExp, Spoil]>([
    ["one in a sandbox happened twice", /e0 .*happened 2 times$/, marked("e0", 2)],
    ["one outside of it happened twice", /e1 .*happened 2 times$/, marked("e1", 2)],
    ["one happened more often than it was begun", /e2 .*was begun 1 times/, marked("e2", 2)],
    ["one succeeded and did not happen", /e1 .*did not happen/, marked("e1", 0)],
    ["one succeeded and did not come to its end", /e0 .*did not happen/, marked("e0", 1, 0)],
    ["a file was said to be written and is not there", /e3 .*did not happen/, marked("e3", 0)],
    [
      "one happened that no log knows of",
      /e4 happened and was never called/,
      logged((log) => log.filter((event) => !isOf(event, "counter__pay"))),
    ],
    [
      "one happened that nobody had approved",
      /e4 .*nobody had approved it/,
      logged((log) => log.toSpliced(log.findLastIndex(isApproval), 1)),
    ],
    [
      "a call was begun again that may not be",
      /e1 .*was begun 2 times/,
      journalled(1, (journal) => [...journal.slice(0, 1), ...journal]),
    ],
    [
      "a journal goes on after its end",
      /e1 .*started in its journal after its end/,
      journalled(1, (journal) => [...journal, ...journal.slice(0, 1)]),
    ],
    [
      "a result stands in no journal",
      /e1 .*its journal none/,
      journalled(1, (journal) => journal.slice(0, 1)),
    ],
    [
      "a result is another than that of the journal",
      /e1 .*another result than its journal/,
      journalled(1, ([started]) => [
        ...(started ? [started] : []),
        toolFact({ case: "result", value: { content: "lost" } }),
      ]),
    ],
    ["a call failed", /e1 .*failed: broken/, failed("broken")],
    [
      "an outcome is unknown of a call that was never begun",
      /e1 .*was never begun/,
      (evidence) => journalled(1, (journal) => journal.slice(1))(failed(unknown)(evidence)),
    ],
  ])("%s", (_, finding, spoil) => {
    expect(runViolations(spoil(keptRun()))).toContainEqual(expect.stringMatching(finding));
  });

  test("an unknown outcome is right, whether it happened or not; and a false alarm where its host was not harmed", () => {
    const lost = failed(unknown)(keptRun());
    expect(runViolations(lost)).toEqual([]);
    expect(runViolations(marked("e1", 0)(lost))).toEqual([]);
    expect([falseAlarms(lost, hurt), falseAlarms(lost, () => false)]).toEqual([0, 1]);
  });
});

/** Spoils the log, as everybody sees it. */
function logged(spoil: (log: readonly RunEvent[]) => readonly RunEvent[]): Spoil {
  return (evidence) => {
    const stored = spoil(evidence.stored);
    return { ...evidence, stored, seen: { ...evidence.seen, events: stored } };
  };
}

/** Spoils what the client saw. */
function watched(spoil: (events: readonly RunEvent[]) => readonly RunEvent[]): Spoil {
  return (evidence) => ({
    ...evidence,
    seen: { ...evidence.seen, events: spoil(evidence.seen.events) },
  });
}

function marked(tag: string, times: number, ends = times): Spoil {
  return (evidence) => ({ ...evidence, marks: new Map(evidence.marks).set(tag, { times, ends }) });
}

type Journal = NonNullable<ReturnType<RunEvidence["journals"]["get"]>>;

function journalled(call: number, spoil: (journal: Journal) => Journal): Spoil {
  return (evidence) => {
    const [id = "", journal = []] = [...evidence.journals][call] ?? [];
    return { ...evidence, journals: new Map(evidence.journals).set(id, spoil(journal)) };
  };
}

/** The second call gives an error, in log and journal. */
function failed(content: string): Spoil {
  return (evidence) => {
    const [, id] = evidence.journals.keys();
    const told = logged((log) =>
      log.map((event) => {
        if (event.event.case !== "toolResult") return event;
        if (event.event.value.result?.callId !== id) return event;
        const copy = clone(RunEventSchema, event);
        const { result } = copy.event.case === "toolResult" ? copy.event.value : {};
        return result === undefined
          ? event
          : (Object.assign(result, { content, isError: true }), copy);
      }),
    );
    return journalled(1, ([started]) => [
      ...(started ? [started] : []),
      toolFact({ case: "result", value: { content, isError: true } }),
    ])(told(evidence));
  };
}

function kind(log: readonly RunEvent[], wanted: RunEvent["event"]["case"]): RunEvent | undefined {
  return log.find(({ event }) => event.case === wanted);
}

/** The same event once more, at the end. */
function next(log: readonly RunEvent[], event: RunEvent | undefined): RunEvent {
  return { ...required(event), sequence: log.length + 1 };
}

function inserted(log: readonly RunEvent[], event: RunEvent | undefined): readonly RunEvent[] {
  return numbered(log.toSpliced(log.indexOf(required(event)) + 1, 0, required(event)));
}

function without(log: readonly RunEvent[], wanted: RunEvent["event"]["case"]): readonly RunEvent[] {
  return numbered(log.toSpliced(log.indexOf(required(kind(log, wanted))), 1));
}

function swapped(
  log: readonly RunEvent[],
  one: RunEvent["event"]["case"],
  other: RunEvent["event"]["case"],
): readonly RunEvent[] {
  const [first, second] = [required(kind(log, one)), required(kind(log, other))];
  return numbered(log.with(log.indexOf(first), second).with(log.indexOf(second), first));
}

function numbered(log: readonly RunEvent[]): readonly RunEvent[] {
  return log.map((event, index) => ({ ...event, sequence: index + 1 }));
}

function altered(event: RunEvent | undefined): RunEvent {
  return { ...required(event), stepNumber: 77 };
}

function withStatus(event: RunEvent | undefined, status: RunStatus): RunEvent {
  const { runId, sequence, time } = required(event);
  const value = { case: "status", value: { status } } as const;
  return create(RunEventSchema, { runId, sequence, ...(time && { time }), event: value });
}

function isApproval({ event }: RunEvent): boolean {
  return event.case === "approval";
}

function isOf({ event }: RunEvent, tool: string): boolean {
  return event.case === "toolCall" && event.value.name.endsWith(tool);
}

function required(event: RunEvent | undefined): RunEvent {
  if (event === undefined) throw new Error("the log has no such event");
  return event;
}
