import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { callUsesReserve, runUsesReserve, threadUsesReserve } from "./reserve-use.ts";

type RunFact = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

const run = (facts: readonly RunFact[], bytes: number) =>
  runUsesReserve(
    facts.map((event) => create(RunEventSchema, { event })),
    bytes,
  );
const status = (value: RunStatus): RunFact => ({ case: "status", value: { status: value } });
const approval = (state: ApprovalState, votes: number): RunFact => ({
  case: "approval",
  value: { approval: { state, votes: Array.from({ length: votes }, () => ({})) } },
});

const [small, medium, large] = [1_000, 60_000, 300_000];

test.each<[string, readonly RunFact[], number]>([
  ["a cancellation with its tree", [{ case: "cancelRequested", value: {} }], large],
  ["a decision about a call with a file", [approval(ApprovalState.APPROVED, 0)], large],
  ["an expiry", [approval(ApprovalState.TIMED_OUT, 0)], large],
  ["a vote", [approval(ApprovalState.PENDING, 1)], medium],
  ["the end of a run", [status(RunStatus.COMPLETED)], small],
  ["an error", [status(RunStatus.ERROR)], small],
  [
    "the run of a turn that has its place",
    [{ case: "runCreated", value: { threadId: "t" } }],
    1_000_000,
  ],
])("%s uses the reserve of a full store, in bounds", (_, facts, bytes) => {
  expect(run(facts, bytes)).toBe(true);
  expect(run(facts, 10 * bytes + 50_000)).toBe(false);
});

test.each<[string, readonly RunFact[]]>([
  ["a new run", [{ case: "runCreated", value: {} }]],
  ["text", [{ case: "text", value: { text: "a" } }]],
  ["a claim", [{ case: "runClaimed", value: {} }, status(RunStatus.STARTING)]],
  ["a model call", [{ case: "modelCallStarted", value: {} }]],
  ["a message", [{ case: "messageSubmitted", value: {} }]],
  ["a tool call", [{ case: "toolCall", value: {} }]],
  ["a request for an approval", [approval(ApprovalState.PENDING, 0)]],
])("%s leaves the reserve alone", (_, facts) => {
  expect(run(facts, small)).toBe(false);
});

test("a thread uses it for the ends of turns, and not for new ones", () => {
  const ended = create(ThreadEventSchema, { event: { case: "turnEnded", value: {} } });
  const queued = create(ThreadEventSchema, { event: { case: "turnQueued", value: {} } });
  const started = create(ThreadEventSchema, { event: { case: "turnStarted", value: {} } });
  expect(threadUsesReserve([ended], 1_000_000)).toBe(true);
  expect(threadUsesReserve([ended], 1_100_000)).toBe(false);
  expect(threadUsesReserve([started], large)).toBe(false);
  expect(threadUsesReserve([started], small)).toBe(true);
  expect(threadUsesReserve([ended, queued], small)).toBe(false);
});

test("a journal uses it for cancellations and answers, and not for results", () => {
  const facts = (["cancelled", "answer", "started", "result", "progress"] as const).map((kind) =>
    create(ToolCallFactSchema, { fact: { case: kind, value: {} } }),
  );
  expect(facts.map((fact) => callUsesReserve([fact], small))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
