import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { ClientCallState, RunEventSchema } from "@reeve/contracts/run";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SilenceNotes } from "./silence-notes.ts";

type Event = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

let lines: string[] = [];

beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
});

afterEach(() => void vi.useRealTimers());

function notesAfter(...events: readonly Event[]): SilenceNotes {
  const notes = new SilenceNotes((line) => lines.push(line));
  for (const event of events) notes.heard(create(RunEventSchema, { event }));
  return notes;
}

const asked: Event = { case: "modelCallStarted", value: {} };
const answered: Event = { case: "modelTurn", value: {} };
const called = (callId: string, name: string): Event => ({
  case: "toolCall",
  value: { callId, name },
});
const returned = (callId: string): Event => ({ case: "toolResult", value: { result: { callId } } });
const approval = (state: ApprovalState): Event => ({
  case: "approval",
  value: { approval: { state, call: { callId: "c1", name: "pay" } } },
});

test("a model that says nothing is reported after ten seconds, after thirty, and then each minute", () => {
  using _ = notesAfter(asked);
  vi.advanceTimersByTime(9_999);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(140_001);
  expect(lines).toEqual(
    [10, 30, 90, 150].map((seconds) => `waiting for the model: nothing new for ${seconds} s`),
  );
});

test("a call of a client is named by who answers it, also while the run is parked", () => {
  const open = { callId: "c1", name: "pick", answeredByPerson: true, state: ClientCallState.OPEN };
  const taken = { callId: "c1", clientId: "page", state: ClientCallState.TAKEN };
  using notes = notesAfter(called("c1", "pick"), { case: "clientCall", value: open });
  notes.heard(create(RunEventSchema, { event: { case: "runParked", value: {} } }));
  vi.advanceTimersByTime(10_000);
  notes.heard(create(RunEventSchema, { event: { case: "clientCall", value: taken } }));
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual([
    "waiting for a person at a client with the tool pick: nothing new for 10 s",
    "waiting for the client page: nothing new for 10 s",
  ]);
});

test("tools that work are named, until their results are there", () => {
  using notes = notesAfter(asked, answered, called("c1", "grep"), called("c2", "read_file"));
  notes.heard(create(RunEventSchema, { event: returned("c1") }));
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual(["waiting for the tool read_file: nothing new for 10 s"]);
  notes.heard(create(RunEventSchema, { event: returned("c2") }));
  vi.advanceTimersByTime(100_000);
  expect(lines).toHaveLength(1);
});

test("a person who was asked to decide is not told to wait", () => {
  using notes = notesAfter(called("c1", "pay"), approval(ApprovalState.PENDING));
  vi.advanceTimersByTime(100_000);
  expect(lines).toEqual([]);
  notes.heard(create(RunEventSchema, { event: approval(ApprovalState.APPROVED) }));
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual(["waiting for the tool pay: nothing new for 10 s"]);
});

test("after a takeover the tools of the former owner are named, and its model is not", () => {
  const claimed: Event = { case: "runClaimed", value: {} };
  using _ = notesAfter(called("c1", "grep"), asked, claimed);
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual(["waiting for the tool grep: nothing new for 10 s"]);
});

test("nothing is printed after the watch has ended", () => {
  notesAfter(asked)[Symbol.dispose]();
  vi.advanceTimersByTime(100_000);
  expect(lines).toEqual([]);
});
