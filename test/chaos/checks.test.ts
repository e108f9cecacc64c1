import { clone, create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { falseAlarms } from "./support/check-calls.ts";
import { runViolations } from "./support/check-run.ts";
import type { RunEvidence } from "./support/evidence.ts";
import { correctRun, toolFact } from "./support/correct-run.ts";

const wasAffected = (host: string) => host === "toolhost-1";
const unknown = "the outcome of this call is unknown: the toolhost that ran it is gone.";
type Corrupt = (evidence: RunEvidence) => RunEvidence;

test("a correct run has no violations", () => {
  expect(runViolations(correctRun())).toEqual([]);
});

test.each<[string, RegExp, Corrupt]>([
  ["a missing event", /event 9 has the sequence 10/, logged((log) => log.toSpliced(8, 1))],
  ["two terminal events", /2 terminal events/, logged((log) => [...log, next(log, log.at(-1))])],
  ["no terminal event", /0 terminal events/, logged((log) => log.slice(0, -1))],
  [
    "an event after the end",
    /text \d+ follows the end/,
    logged((log) => [...log, next(log, kind(log, "text"))]),
  ],
  [
    "two swapped events",
    /toolCall: comes before the usage/,
    logged((log) => swapped(log, "usage", "toolCall")),
  ],
  [
    "a call with two results",
    /has 2 results/,
    logged((log) => inserted(log, kind(log, "toolResult"))),
  ],
  ["a call without a result", /has no result/, logged((log) => without(log, "toolResult"))],
  [
    "an event that the client missed",
    /saw \d+ of \d+ events/,
    watched((events) => events.toSpliced(4, 1)),
  ],
  [
    "an event that the client saw twice",
    /saw a different event 6/,
    watched((events) => events.toSpliced(4, 0, ...events.slice(4, 5))),
  ],
  [
    "an event that the client saw differently from the log",
    /saw a different event 5 /,
    watched((events) => events.with(4, altered(events[4]))),
  ],
  [
    "an error that the client must never see",
    /INTERNAL/,
    (evidence) => ({ ...evidence, seen: { ...evidence.seen, errors: ["INTERNAL"] } }),
  ],
  ["a forgotten run", /did not end/, (evidence) => ({ ...evidence, stuck: "lost" })],
  [
    "a cancelled run that completed",
    /ended as COMPLETED/,
    (evidence) => ({ ...evidence, seen: { ...evidence.seen, cancel: "cancelled" } }),
  ],
  [
    "a cancelled run without a cancel request",
    /ended as CANCELLED/,
    logged((log) => [...log.slice(0, -1), withStatus(log.at(-1), RunStatus.CANCELLED)]),
  ],
  [
    "a gateway that shows a different status",
    /shows it as RUNNING/,
    (evidence) => ({ ...evidence, shown: [RunStatus.RUNNING] }),
  ],
])("finds %s", (_, finding, corrupt) => {
  expect(runViolations(corrupt(correctRun()))).toContainEqual(expect.stringMatching(finding));
});

describe("the check of effects finds", () => {
  test.each<[string, RegExp, Corrupt]>([
    ["an effect in a sandbox that happened twice", /e0 .*happened 2 times$/, marked("e0", 2)],
    [
      "an effect outside the sandbox that happened twice",
      /e1 .*happened 2 times$/,
      marked("e1", 2),
    ],
    [
      "an effect that happened more often than it was started",
      /e2 .*was started 1 times/,
      marked("e2", 2),
    ],
    ["a successful effect that did not happen", /e1 .*did not happen/, marked("e1", 0)],
    ["a successful effect that did not finish", /e0 .*did not happen/, marked("e0", 1, 0)],
    ["a successfully written file that is missing", /e3 .*did not happen/, marked("e3", 0)],
    [
      "an effect that is in no log",
      /e4 happened but was never called/,
      logged((log) => log.filter((event) => !isOf(event, "counter__pay"))),
    ],
    [
      "an effect that was not approved",
      /e4 .*happened without approval/,
      logged((log) => log.toSpliced(log.findLastIndex(isApproval), 1)),
    ],
    [
      "a restarted call that is not idempotent",
      /e1 .*was started 2 times/,
      journalled(1, (journal) => [...journal.slice(0, 1), ...journal]),
    ],
    [
      "a journal that continues after its end",
      /e1 .*started in its journal after its end/,
      journalled(1, (journal) => [...journal, ...journal.slice(0, 1)]),
    ],
    [
      "a result that is in no journal",
      /e1 .*its journal has none/,
      journalled(1, (journal) => journal.slice(0, 1)),
    ],
    [
      "a result that differs from the journal's",
      /e1 .*a different result from its journal/,
      journalled(1, ([started]) => [
        ...(started ? [started] : []),
        toolFact({ case: "result", value: { content: "lost" } }),
      ]),
    ],
    ["a failed call", /e1 .*failed: broken/, failed("broken")],
    [
      "an unknown outcome of a call that was never started",
      /e1 .*was never started/,
      (evidence) => journalled(1, (journal) => journal.slice(1))(failed(unknown)(evidence)),
    ],
  ])("%s", (_, finding, corrupt) => {
    expect(runViolations(corrupt(correctRun()))).toContainEqual(expect.stringMatching(finding));
  });

  test("an unknown outcome is correct whether or not the effect happened, and a false alarm if its host had no fault", () => {
    const lost = failed(unknown)(correctRun());
    expect(runViolations(lost)).toEqual([]);
    expect(runViolations(marked("e1", 0)(lost))).toEqual([]);
    expect([falseAlarms(lost, wasAffected), falseAlarms(lost, () => false)]).toEqual([0, 1]);
  });
});

/** Changes the log in every view of it. */
function logged(corrupt: (log: readonly RunEvent[]) => readonly RunEvent[]): Corrupt {
  return (evidence) => {
    const stored = corrupt(evidence.stored);
    return { ...evidence, stored, seen: { ...evidence.seen, events: stored } };
  };
}

/** Changes what the client saw. */
function watched(corrupt: (events: readonly RunEvent[]) => readonly RunEvent[]): Corrupt {
  return (evidence) => ({
    ...evidence,
    seen: { ...evidence.seen, events: corrupt(evidence.seen.events) },
  });
}

function marked(tag: string, times: number, ends = times): Corrupt {
  return (evidence) => ({ ...evidence, marks: new Map(evidence.marks).set(tag, { times, ends }) });
}

type Journal = NonNullable<ReturnType<RunEvidence["journals"]["get"]>>;

function journalled(call: number, corrupt: (journal: Journal) => Journal): Corrupt {
  return (evidence) => {
    const [id = "", journal = []] = [...evidence.journals][call] ?? [];
    return { ...evidence, journals: new Map(evidence.journals).set(id, corrupt(journal)) };
  };
}

/** Gives the second call an error result, in the log and in the journal. */
function failed(content: string): Corrupt {
  return (evidence) => {
    const [, id] = evidence.journals.keys();
    const withResult = logged((log) =>
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
    ])(withResult(evidence));
  };
}

function kind(log: readonly RunEvent[], wanted: RunEvent["event"]["case"]): RunEvent | undefined {
  return log.find(({ event }) => event.case === wanted);
}

/** Repeats the event at the end. */
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
