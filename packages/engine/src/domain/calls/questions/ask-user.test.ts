import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ApprovalState, ApprovalSource, GateKind } from "@reeve/contracts/approval";
import { ApprovalStatus, ToolStatus } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../../../test/support/event-order.ts";
import { PlayedRun, subtask } from "../../../../test/support/run-player.ts";
import { workedMs } from "../../state/worked-time.ts";
import { nextEffects, openWaits } from "../../next-effects.ts";

const { APPROVED, PENDING, REJECTED, TIMED_OUT } = ApprovalState;
type Spec = Exclude<MessageInitShape<typeof AgentSpecSchema>, { readonly $typeName: string }>;

const ask = (args: JsonObject) => ({ name: "ask_user", args: { question: "which?", ...args } });

function asking(args: JsonObject = {}, spec: Spec = {}, memoryEnabled = false): PlayedRun {
  const created = { startedBy: "ann", memoryEnabled };
  return new PlayedRun({ questions: {}, ...spec }, { created }).turn(ask(args));
}

const requested = (run: PlayedRun) => run.all("approval")[0]?.approval;
const schemaOf = (run: PlayedRun) => requested(run)?.question?.schema;
const statusOf = (run: PlayedRun) => run.all("toolResult").at(-1)?.result?.metadata;

/** Returns how many seconds a question can be answered. */
function given(spec: Spec): number {
  const { requestedAt, expiresAt } = requested(asking({}, spec)) ?? {};
  return Number((expiresAt?.seconds ?? 0n) - (requestedAt?.seconds ?? 0n));
}

const answerOf = (value: JsonObject) => ({
  type: "object",
  properties: { answer: value },
  required: ["answer"],
});

describe("a question of an agent", () => {
  // Requirement: HITL-4
  test("is an approval with the question, and parks the run", () => {
    const run = asking();
    const callId = run.frame().calls[0]?.call.callId;
    expect(requested(run)).toMatchObject({
      approvalId: callId,
      state: PENDING,
      question: { message: "which?", askedBy: "agent" },
      requestedBy: "ann",
      gates: [GateKind.QUESTION],
      source: ApprovalSource.RUN,
      callDigest: "",
      alternatives: [],
    });
    expect(requested(run)?.expiresAt).toBeUndefined();
    expect(nextEffects(run.state)).toEqual([]);
    expect(openWaits(run.state)).toEqual([callId]);
    expect(run.all("toolCallStarted")).toEqual([]);
  });

  test("has its answer as the result of the call", () => {
    const run = asking()
      .parks()
      .decides(APPROVED, { answer: { answer: "b" }, by: "ann" });
    run.claimedAnew();
    expect(run.resultsSeen()).toEqual(['{"answer":"b"}']);
    expect(statusOf(run)).toMatchObject({
      status: ToolStatus.SUCCESS,
      approvalStatus: ApprovalStatus.APPROVED,
      approvalId: requested(run)?.approvalId,
    });
    expectOrder(run.says("b it is").turn().events);
  });

  test.each([
    [REJECTED, ToolStatus.REJECTED, "the person declined to answer: not today"],
    [TIMED_OUT, ToolStatus.TIMED_OUT, "nobody answered in time"],
  ])("that ends as %s says so to the model, and the run continues", (state, status, content) => {
    const run = asking().decides(state);
    expect(run.resultsSeen()).toEqual([content]);
    expect(statusOf(run)).toMatchObject({ status });
    expectOrder(run.says("then not").turn().events);
  });

  test("expires by its own policy, and otherwise by that of approvals", () => {
    const approvalPolicy = { timeout: { seconds: 60n } };
    expect(given({ approvalPolicy })).toBe(60);
    expect(given({ approvalPolicy, questions: { timeout: { seconds: 9n } } })).toBe(9);
  });

  test("names those who may answer, and takes no answer without their vote", () => {
    const questions = { people: ["lea"], groups: ["desk"] };
    const run = asking({}, { questions });
    expect(requested(run)?.alternatives).toMatchObject([
      { name: "answer", people: ["lea"], groups: ["desk"], approvals: 1, denials: 1 },
    ]);
    run.decides(APPROVED, { answer: { answer: "b" }, by: "bob" });
    expect(statusOf(run)).toMatchObject({ status: ToolStatus.REJECTED });
    const other = asking({}, { questions });
    other.decides(APPROVED, { answer: { answer: "b" }, by: "lea", reached: "answer" });
    expect(other.resultsSeen()).toEqual(['{"answer":"b"}']);
  });

  test.each<[string, Spec, object]>([
    ["only", {}, { people: ["ann"], groups: [] }],
    ["among others", { questions: { people: ["lea", "ann"] } }, { people: ["ann"], groups: [] }],
    ["in a group", { questions: { people: ["lea"], groups: ["desk"] } }, { people: [] }],
  ])("is for the user of a run with memory %s", (_, spec, deciders) => {
    expect(requested(asking({}, spec, true))?.alternatives).toMatchObject([deciders]);
  });

  test("that only others may answer is not asked in a run with the memories of its user", () => {
    const run = asking({}, { questions: { people: ["lea"] } }, true);
    expect(run.all("approval")).toEqual([]);
    expect(run.lastResult).toContain("the questions of this agent are for others");
  });

  test.each([APPROVED, REJECTED])("takes no decision %s of others about memories", (state) => {
    const run = asking({}, {}, true);
    run.decides(state, { answer: { answer: "b" }, by: "bob", reached: "answer" });
    expect(run.resultsSeen()).toEqual([
      "somebody else than the user of the run decided; ask again",
    ]);
    const own = asking({}, {}, true);
    own.decides(APPROVED, { answer: { answer: "b" }, by: "ann", reached: "answer" });
    expect(own.resultsSeen()).toEqual(['{"answer":"b"}']);
  });

  test("can be answered at once, whatever approvals have to wait for", () => {
    const waits = [{ wait: { seconds: 60n } }];
    const run = asking({}, { approvalPolicy: { waits } });
    expect(requested(run)?.decidableAfter).toBeUndefined();
    run.decides(APPROVED, { answer: { answer: "b" } });
    expect(run.resultsSeen()).toEqual(['{"answer":"b"}']);
  });

  test("needs no approval before it is asked, whatever the rules are", () => {
    const run = asking({}, { hitlTools: ["ask_user"], approvalPolicy: { alternatives: [] } });
    expect(run.all("approval")).toHaveLength(1);
    expect(requested(run)?.gates).toEqual([GateKind.QUESTION]);
  });

  test("of a subtask is an approval of the run, and parks all of it", () => {
    const run = new PlayedRun({ questions: {} }).turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run.turnIn(child, [ask({})]);
    expect(requested(run)).toMatchObject({ runId: "run_test", parentId: child });
    expect(openWaits(run.state)).toEqual([requested(run)?.approvalId]);
    run.decides(APPROVED, { answer: { answer: "b" } });
    expect(run.resultsSeen(child)).toEqual(['{"answer":"b"}']);
  });

  test("does not hold up its siblings, and does not stop the time of those that work", () => {
    const run = new PlayedRun({ questions: {} }).turn(ask({}), { name: "search" });
    expect(nextEffects(run.state).map(({ kind }) => kind)).toEqual(["call_tool"]);
    const before = workedMs(run.state.worked, run.nowMs);
    run.nowMs += 1_000;
    run.result(1);
    expect(workedMs(run.state.worked, run.nowMs) - before).toBeGreaterThanOrEqual(1_000);
  });

  test("that waits in a parked run is no working time", () => {
    const run = asking({}, { budgets: { maxWallClock: { seconds: 60n } } }).parks();
    run.nowMs += 86_400_000;
    run.decides(APPROVED, { answer: { answer: "b" } }).claimedAnew();
    expect(run.end).toBeUndefined();
    expect(run.says("b").turn().end).toBe("completed");
  });

  test("whose accepted answer does not match its schema is not answered", () => {
    const run = asking({ choices: ["a", "b"] }).decides(APPROVED, { answer: { answer: "c" } });
    expect(statusOf(run)).toMatchObject({ status: ToolStatus.REJECTED });
    expect(run.lastResult).toContain("does not match the schema of the question");
  });
});

describe("the answer to a question has", () => {
  const choice = { type: "string", enum: ["a", "b"] };
  const form = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  test.each<[string, JsonObject, JsonObject]>([
    ["text", {}, answerOf({ type: "string", minLength: 1 })],
    ["one of the choices", { choices: ["a", "b"] }, answerOf(choice)],
    [
      "some of the choices",
      { choices: ["a", "b"], multiple: true },
      answerOf({ type: "array", items: choice, maxItems: 2 }),
    ],
    ["the values of a schema", { answer_schema: form }, form],
    [
      "one value of a schema",
      { answer_schema: { type: "integer" } },
      answerOf({ type: "integer" }),
    ],
  ])("%s", (_, args, schema) => {
    expect(schemaOf(asking(args))).toEqual(schema);
  });

  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 12; level++) deep = { type: "array", items: deep };
  const properties = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`f${index}`, { type: "string" }]),
  );
  test.each<[string, JsonObject]>([
    ["is empty", { question: "  " }],
    ["is too long", { question: "x".repeat(4_001) }],
    ["has no choices", { choices: [] }],
    ["has too many choices", { choices: Array.from({ length: 51 }, (_, index) => `${index}`) }],
    ["has equal choices", { choices: ["a", "a"] }],
    ["has a choice without text", { choices: [" "] }],
    ["has choices and a schema", { choices: ["a"], answer_schema: form }],
    ["has an invalid schema", { answer_schema: { type: 7 } }],
    ["has a schema with references", { answer_schema: { $ref: "#" } }],
    ["has a schema with a pattern that is slow", { answer_schema: { pattern: "(?=a)b" } }],
    ["has a deep schema", { answer_schema: deep }],
    ["has a large schema", { answer_schema: { type: "object", properties } }],
    ["has choices that are no texts", { choices: [1] }],
  ])("nobody to give it if the question %s", (_, args) => {
    const run = asking(args);
    expect(run.all("approval")).toEqual([]);
    expect(run.all("toolResult")[0]?.success).toBe(false);
  });
});

test("an agent whose spec does not permit questions has no tool for them", () => {
  const run = new PlayedRun().turn(ask({}));
  expect(run.all("approval")).toEqual([]);
  expect(run.lastResult).toContain('there is no tool "ask_user"');
});
