import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus, StepState } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { eventsAfter, text } from "@reeve/jetstream/test/support/facts";
import type { ExternalFact } from "../commands/append-external.ts";
import { emptyHead, foldHead, messageOf, pendingApprovals } from "./run-head.ts";
import { runOf } from "./run-of.ts";
import { isTerminal } from "./run-status.ts";

const created: ExternalFact = { case: "runCreated", value: { agentId: "writer", input: "hello" } };
const claimed: ExternalFact = { case: "runClaimed", value: { worker: "w", epoch: 1 } };
const parked: ExternalFact = { case: "runParked", value: {} };
const started: ExternalFact = { case: "step", value: { state: StepState.STARTED } };
const status = (to: RunStatus): ExternalFact => ({ case: "status", value: { status: to } });
const approval = (approvalId: string, state: ApprovalState): ExternalFact => ({
  case: "approval",
  value: { approval: { approvalId, state } },
});

const headOf = (...facts: readonly ExternalFact[]) => foldHead(emptyHead, eventsAfter(0, ...facts));

/** An event in this step, at this sequence. */
function placed(
  sequence: number,
  stepNumber: number,
  event: ExternalFact,
  parentId = "",
): RunEvent {
  return create(RunEventSchema, { sequence, stepNumber, parentId, event });
}

const step = (sequence: number, stepNumber: number, words: string) =>
  placed(sequence, stepNumber, text(words));

const outputOf = (...events: readonly RunEvent[]) =>
  runOf(foldHead(headOf(created), events)).output;

// Requirement: PLAN-4
test("the plan of a run is in what clients see of it, and is empty without one", () => {
  expect(runOf(headOf(created)).plan).toEqual([]);
  const planned: ExternalFact = { case: "plan", value: { steps: ["look", "answer"] } };
  expect(runOf(headOf(created, claimed, planned, started)).plan).toEqual(["look", "answer"]);
});

const answered: ExternalFact = {
  case: "toolCall",
  value: { callId: "c", name: "finish_subtask", arguments: { n: 4 } },
};
const answerResult = (init: object): ExternalFact => ({
  case: "toolResult",
  value: { result: { callId: "c", name: "finish_subtask", ...init } },
});
const answerOf = (...facts: readonly ExternalFact[]) =>
  runOf(headOf(created, ...facts)).structuredOutput;

// Requirement: SUB-6
describe("the answer of a run that has a schema", () => {
  test("is in the result of the call, or else in its arguments, as workers of earlier versions record it", () => {
    expect(answerOf(answered, answerResult({ structured: { n: 5 } }))).toEqual({ n: 5 });
    expect(answerOf(answered, answerResult({}))).toEqual({ n: 4 });
    expect(answerOf(answered, answerResult({ isError: true }))).toBeUndefined();
    expect(answerOf(answered)).toBeUndefined();
  });

  test("is gone when the run takes up a message", () => {
    const injected: ExternalFact = { case: "messageInjected", value: { messageId: "m" } };
    expect(answerOf(answered, answerResult({}), injected)).toBeUndefined();
  });
});

describe("the status of a run", () => {
  test.each<[string, RunStatus, readonly ExternalFact[]]>([
    ["is queued until a worker prepares it", RunStatus.QUEUED, [created]],
    ["is starting while it is prepared", RunStatus.STARTING, [claimed, status(RunStatus.STARTING)]],
    ["is running from its first step on", RunStatus.RUNNING, [claimed, started]],
    ["is waiting while it is parked", RunStatus.WAITING, [claimed, started, parked]],
    ["is running again when it is claimed", RunStatus.RUNNING, [started, parked, claimed]],
    ["is final", RunStatus.COMPLETED, [started, status(RunStatus.COMPLETED)]],
    [
      "stays final when records follow",
      RunStatus.CANCELLED,
      [started, status(RunStatus.CANCELLED), claimed, parked],
    ],
  ])("%s", (_, expected, facts) => {
    const head = headOf(created, ...facts);
    expect(head.status).toBe(expected);
    expect(isTerminal(head.status)).toBe(expected >= RunStatus.COMPLETED);
  });

  test("has the sequence at which the run was parked, until the next claim", () => {
    expect(headOf(created, claimed, parked).parkedAt).toBe(3);
    const later = headOf(created, claimed, parked, { case: "messageSubmitted", value: {} });
    expect(later.parkedAt).toBe(3);
    expect(headOf(created, claimed, parked, claimed).parkedAt).toBeUndefined();
  });
});

describe("the output of a run", () => {
  test("is the text of the last step that has any", () => {
    expect(outputOf(step(2, 1, "let me "), step(3, 1, "see"))).toBe("let me see");
    expect(outputOf(step(2, 1, "let me see"), step(3, 2, "it is "), step(4, 2, "4"))).toBe(
      "it is 4",
    );
  });

  test("excludes subtasks and voided text", () => {
    const voided: ExternalFact = { case: "textVoided", value: { firstSequence: 3 } };
    const parts = [placed(2, 1, text("first")), placed(3, 2, text("wrong"))];
    expect(outputOf(...parts, placed(4, 2, voided))).toBe("first");
    expect(outputOf(...parts, placed(4, 2, voided), placed(5, 2, text("right")))).toBe("right");
    expect(outputOf(...parts, placed(4, 1, text("aside"), "sub"))).toBe("wrong");
    expect(outputOf(...parts, placed(4, 1, voided, "sub"))).toBe("wrong");
  });
});

test("the head has the latest version of each approval, pending until its decision or the end of the run", () => {
  const head = headOf(
    created,
    approval("a", ApprovalState.PENDING),
    approval("b", ApprovalState.PENDING),
    approval("a", ApprovalState.APPROVED),
  );
  expect(pendingApprovals(head).map(({ approvalId }) => approvalId)).toEqual(["b"]);
  expect(runOf(head).pendingApprovals).toEqual(["b"]);
  const ended = foldHead(head, eventsAfter(4, status(RunStatus.CANCELLED)));
  expect(pendingApprovals(ended)).toEqual([]);
  expect(ended.endSequence).toBe(5);
});

test("a run keeps its error, its cost, and its submitted messages", () => {
  const head = headOf(
    created,
    { case: "messageSubmitted", value: { messageId: "m1" } },
    { case: "costSummary", value: { llmCalls: 2 } },
    { case: "error", value: { reason: "provider_failed", message: "no answer" } },
  );
  expect(runOf(head)).toMatchObject({
    agentId: "writer",
    inputPreview: "hello",
    lastSequence: 4,
    error: { reason: "provider_failed" },
    cost: { llmCalls: 2 },
  });
  expect(messageOf(head, "m1")?.sequence).toBe(2);
});

test("folding a log at once and event by event gives the same head", () => {
  const events = eventsAfter(0, created, claimed, started, text("a"), text("b"), parked);
  const singly = events.reduce((head, event) => foldHead(head, [event]), emptyHead);
  expect(singly).toEqual(foldHead(emptyHead, events));
});

test("shows the first event of a newer version and everything around it", () => {
  const before = eventsAfter(0, created, claimed);
  const after = eventsAfter(4, started, text("a"));
  const unknown = [3, 4].map((sequence) => create(RunEventSchema, { runId: "run_x", sequence }));
  const run = runOf(foldHead(emptyHead, [...before, ...unknown, ...after]));
  expect(run).toMatchObject({
    status: RunStatus.RUNNING,
    output: "a",
    lastSequence: 6,
    unknownEventSequence: 3,
  });
});

test("a run shows from which run and sequence it was derived", () => {
  const origin = { runId: "run_first", sequence: 7 };
  const derived = headOf({ case: "runCreated", value: { agentId: "writer", origin } });
  expect(runOf(derived).origin).toMatchObject(origin);
  expect(runOf(headOf(created)).origin).toBeUndefined();
});
