import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { BudgetsSchema } from "@reeve/contracts/agent";
import {
  ApprovalReviewSchema,
  ApprovalSchema,
  ApprovalState,
  ReviewAdvice,
  VoteSchema,
} from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel } from "../../../test/support/models.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { expectWhole, WorkerBench } from "../../../test/support/worker-bench.ts";
import { adviceIn } from "../../domain/calls/review/review-call.ts";
import { fact, rootScope } from "../../domain/state/fact.ts";
import { nextEffects } from "../../domain/next-effects.ts";
import type { ModelPart, ModelProvider, ModelRequest } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";

const rubric = "Does it count too far?";
const reviewer = { rubric, tools: ["cou*"] };
const spec = { hitlTools: ["count"], approvalPolicy: { reviewer } };
const said = '{"advice":"reject","reason":"It counts to 9."}';

/** A run that calls `count`, whose calls a model reviews as `answer` does. */
function benchWith(
  answer: (request: ModelRequest, signal: AbortSignal) => string | Promise<string>,
  models: ConstructorParameters<typeof WorkerBench>[1] = [],
) {
  const calling = callingModel([["count", '{"to":9}']], () => undefined);
  const asked: ModelRequest[] = [];
  const provider: ModelProvider = {
    ...calling,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      if (!request.instructions.includes(rubric)) {
        yield* calling.stream(request, signal);
        return;
      }
      asked.push(request);
      yield { kind: "text", text: await answer(request, signal) };
      const cached = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningTokens: 0 };
      const usage = { inputTokens: 1_000_000, outputTokens: 7, ...cached };
      const turn = { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "judge" };
      yield { kind: "turn", turn };
    },
  };
  return { bench: new WorkerBench(provider, models), asked };
}

/** Returns an answer that fails. */
function failing(...args: ConstructorParameters<typeof ModelFailure>) {
  return () => {
    throw new ModelFailure(...args);
  };
}

async function hangs(_: unknown, signal: AbortSignal): Promise<never> {
  await once(signal, "abort");
  throw new Error("aborted");
}

async function head(bench: WorkerBench) {
  return foldHead(emptyHead, await bench.events());
}

describe("a call whose agent has a reviewer", () => {
  // Requirement: HITL-1
  test("waits for a person with the advice of a model, which is asked once", async () => {
    const { bench, asked } = benchWith(() => said);
    await (await bench.create(spec)).drive("w");
    const parked = await head(bench);
    expect(approvalsOf(parked)).toMatchObject([
      {
        state: ApprovalState.PENDING,
        revision: 1,
        review: {
          advice: ReviewAdvice.REJECT,
          reason: "It counts to 9.",
          problem: "",
          model: "judge",
          revision: 1,
          usage: { inputTokens: 1_000_000, outputTokens: 7 },
        },
      },
    ]);
    expect(parked.parkedAt).toBeDefined();
    expect(asked).toMatchObject([{ tools: [], messages: [{ role: "user" }] }]);
    const text = asked[0]?.messages[0]?.role === "user" ? asked[0].messages[0].text : "";
    expect(JSON.parse(text)).toMatchObject({ tool: "count", arguments: { to: 9 } });
    const { llmCalls, inputTokens } = parked.spent;
    await bench.decide(ApprovalState.APPROVED);
    await bench.drive("w2", 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
    expect(asked).toHaveLength(1);
    const after = (await head(bench)).spent;
    expect(llmCalls).toBe(2);
    expect(after.llmCalls).toBe(3);
    expect(after.inputTokens).toBeLessThan(inputTokens + 1_000_000);
  });

  test.each([
    [
      "refuses",
      () => {
        throw new ModelFailure("refused", "I will not say");
      },
      "I will not say",
    ],
    ["gives no advice", () => "APPROVE, says the system", "its answer is no advice"],
  ])("waits as ever if the model %s, and says why", async (_, answer, problem) => {
    const { bench, asked } = benchWith(answer);
    await (await bench.create(spec)).drive("w");
    const [approval] = approvalsOf(await head(bench));
    expect(approval).toMatchObject({ state: ApprovalState.PENDING, review: { problem } });
    expect(approval?.review?.advice).toBe(ReviewAdvice.UNSPECIFIED);
    await bench.decide(ApprovalState.APPROVED);
    await bench.drive("w2", 2);
    expect(bench.executed).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  test("is never decided by the advice, also if the call demands it", async () => {
    const approve = '{"advice":"approve","reason":"as told"}';
    const { bench } = benchWith(() => approve);
    await (await bench.create(spec)).drive("w");
    const [approval] = approvalsOf(await head(bench));
    expect(approval?.state).toBe(ApprovalState.PENDING);
    expect(approval?.decision).toBeUndefined();
    expect(bench.executed).toEqual([]);
  });

  const pricing = { inputUsdPerMillion: 0, outputUsdPerMillion: 1_000 };
  const priced = [
    { id: "test:x", provider: "test", upstreamName: "x", maxOutputTokens: 1_000, pricing },
  ];

  test.each<[string, MessageInitShape<typeof BudgetsSchema>, string]>([
    ["model calls", { maxLlmCalls: 1 }, "all its model calls"],
    ["model calls but the next one", { maxLlmCalls: 2 }, "all its model calls"],
    ["tokens", { maxTotalTokens: 4_000 }, "more tokens than the run has left"],
    ["time", { maxWallClock: { seconds: 1n } }, "no time left"],
    // The review and the next turn may cost a dollar each.
    ["money", { maxCostUsd: 1.9 }, "cost more than the run has left"],
  ])("is not reviewed for a run that has too few %s left", async (_, budgets, problem) => {
    const { bench, asked } = benchWith(() => said, priced);
    await (await bench.create({ ...spec, budgets })).drive("w");
    const parked = await head(bench);
    expect(approvalsOf(parked)).toMatchObject([{ state: ApprovalState.PENDING }]);
    expect(approvalsOf(parked)[0]?.review?.problem).toContain(problem);
    expect(asked).toEqual([]);
    expect(parked.parkedAt).toBeDefined();
  });

  test.each([
    ["failed at once", failing("unavailable", "gone"), 1, 0],
    ["failed during its answer", failing("unavailable", "gone", { answerBegan: true }), 1, 1_000],
    ["gave no answer in time", hangs, 1, 1_000],
    ["was not called", failing("paused", "later"), 0, 0],
  ])("is charged for a model that %s", async (_, answer, calls, outputTokens) => {
    const { bench } = benchWith(answer, priced);
    // The review gets half of the time.
    const budgets = { maxWallClock: { seconds: 2n } };
    await (await bench.create({ ...spec, budgets })).drive("w");
    const parked = await head(bench);
    const [approval] = approvalsOf(parked);
    expect(approval?.review?.problem).not.toBe("");
    expect(approval?.review?.model).toBe(calls === 0 ? "" : "x");
    const { spent } = parked;
    expect(spent.llmCalls).toBe(1 + calls);
    const turns = (await bench.events()).flatMap(({ event }) =>
      event.case === "usage" ? [event.value.outputTokens] : [],
    );
    const output = outputTokens + (turns[0] ?? NaN);
    expect(spent).toMatchObject({ outputTokens: output, costUsd: output / 1_000 });
  });

  test("is reviewed to the end by a worker that drains", async () => {
    const ending = new AbortController();
    const { bench, asked } = benchWith(async () => {
      ending.abort();
      await setTimeout(20);
      return said;
    });
    const stop = { now: new AbortController().signal, drain: ending.signal };
    expect(await (await bench.create(spec)).drive("w", 1, stop)).toBe("given back");
    expect(approvalsOf(await head(bench))).toMatchObject([{ review: { model: "judge" } }]);
    expect(asked).toHaveLength(1);
  });

  test("is reviewed with a budget that just suffices", async () => {
    const { bench, asked } = benchWith(() => said, priced);
    const budgets = { maxLlmCalls: 3, maxTotalTokens: 6_000, maxCostUsd: 2.1 };
    await (await bench.create({ ...spec, budgets })).drive("w");
    expect(asked).toHaveLength(1);
  });
});

/** A run whose call waits for an approval and its review. */
function waiting(): PlayedRun {
  const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy: { reviewer: { rubric } } });
  return run.turn({ name: "search" });
}

function reviewed(run: PlayedRun) {
  const approval = run.all("approval")[0]?.approval;
  if (approval === undefined) throw new Error("no approval was requested");
  const review = create(ApprovalReviewSchema, { advice: ReviewAdvice.APPROVE, revision: 1 });
  const value = { approval: create(ApprovalSchema, { ...approval, revision: 1, review }) };
  return fact(rootScope, { case: "approval", value });
}

test("advice is added to the latest version of an approval, with the votes that came meanwhile", () => {
  const run = waiting();
  expect(nextEffects(run.state).map(({ kind }) => kind)).toEqual(["review_call"]);
  const advice = reviewed(run);
  const request = run.all("approval")[0]?.approval;
  if (request === undefined) throw new Error("no approval was requested");
  const votes = [create(VoteSchema, { decision: { decidedBy: "bob" } })];
  const approval = create(ApprovalSchema, { ...request, revision: 1, votes });
  run.write({ case: "approval", value: { approval } });
  run.append([advice]);
  expect(run.all("approval").at(-1)?.approval).toMatchObject({
    revision: 2,
    votes: [{ decision: { decidedBy: "bob" } }],
    review: { advice: ReviewAdvice.APPROVE, revision: 2 },
  });
  expect(nextEffects(run.state)).toEqual([]);
});

test("advice about an approval that was decided meanwhile changes nothing", () => {
  const run = waiting();
  const advice = reviewed(run);
  run.decides(ApprovalState.REJECTED);
  const before = run.all("approval").length;
  run.append([advice]);
  expect(run.all("approval")).toHaveLength(before);
});

test("advice that a service of an earlier version drops with a vote is not asked for again", () => {
  const run = waiting();
  run.append([reviewed(run)]);
  const latest = run.all("approval").at(-1)?.approval;
  if (latest === undefined) throw new Error("the advice was not added");
  const votes = [create(VoteSchema, { decision: { decidedBy: "bob" } })];
  const { review: _, ...others } = latest;
  run.write({ case: "approval", value: { approval: { ...others, revision: 2, votes } } });
  expect(nextEffects(run.state)).toEqual([]);
});

test("a call that leaves no room for advice in the log is not reviewed", () => {
  const text = "x".repeat(970 * 1024);
  const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy: { reviewer: { rubric } } });
  run.turn({ name: "search" });
  const approval = run.all("approval")[0]?.approval;
  if (approval?.call === undefined) throw new Error("no approval was requested");
  const call = { ...approval.call, arguments: { text } };
  run.write({ case: "approval", value: { approval: { ...approval, revision: 1, call } } });
  expect(nextEffects(run.state)).toEqual([]);
});

test("calls of other tools, and questions, are not reviewed", () => {
  const policy = {
    hitlTools: ["search"],
    approvalPolicy: { reviewer: { rubric, tools: ["pay"] } },
  };
  const run = new PlayedRun(policy).turn({ name: "search" });
  expect(nextEffects(run.state)).toEqual([]);
  const asking = new PlayedRun({ questions: {}, approvalPolicy: { reviewer: { rubric } } });
  asking.turn({ name: "ask_user", args: { question: "which?" } });
  expect(nextEffects(asking.state)).toEqual([]);
});

test.each([
  ['```json\n{"advice":"unsure","reason":"a"}\n```', { advice: ReviewAdvice.UNSURE, reason: "a" }],
  ['{"advice":"approve"}', { advice: ReviewAdvice.APPROVE, reason: "" }],
  ['{"advice":"constructor"}', undefined],
  ['{"advice":"approve"} {"advice":"reject"}', undefined],
  ['["approve"]', undefined],
  ["", undefined],
])("of the answer %j, the advice is %j", (answer, advice) => {
  expect(adviceIn(answer)).toEqual(advice);
});

test("a long reason is cut", () => {
  const answer = JSON.stringify({ advice: "reject", reason: "x".repeat(9_000) });
  expect(adviceIn(answer)?.reason).toHaveLength(2_000);
});
