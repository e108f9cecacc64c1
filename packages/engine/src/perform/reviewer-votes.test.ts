import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import type { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { ApprovalState, DecisionSchema, GateKind, ReviewAdvice } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { castVote } from "@reeve/run/approvals/votes/count-vote";
import { appendExternal } from "@reeve/run/commands/append-external";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { expect, test } from "vitest";
import { callingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";
import type { ModelPart, ModelProvider } from "../ports/model-provider.ts";

type Policy = Exclude<
  MessageInitShape<typeof ApprovalPolicySchema>,
  { readonly $typeName: string }
>;

const never = new AbortController().signal;
const rubric = "Does it count too far?";
const { PENDING, APPROVED, REJECTED } = ApprovalState;
const usage = {
  inputTokens: 10,
  outputTokens: 7,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningTokens: 0,
};

/** A run that calls `count`, of class `safe`, and a reviewer that answers so. */
async function reviewedRun(
  advice: string,
  more: Policy = {},
  votes: object = { classes: ["safe"] },
  { operators, args = { to: 9 } }: { operators?: string; args?: object } = {},
) {
  const calling = callingModel([["count", JSON.stringify(args)]], () => undefined);
  const provider: ModelProvider = {
    ...calling,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      if (!request.instructions.includes(rubric)) {
        yield* calling.stream(request, signal);
        return;
      }
      yield { kind: "text", text: JSON.stringify({ advice, reason: "It counts to 9." }) };
      const turn = { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "judge" };
      yield { kind: "turn", turn };
    },
  };
  const approvalPolicy = { reviewer: { rubric, votes }, ...more };
  const bench = new WorkerBench(provider);
  const spec = { hitlTools: ["count"], approvalPolicy };
  await bench.create(spec, { startedBy: "ann", hasPolicy: operators !== undefined });
  if (operators !== undefined) bench.policy = parsePolicyFile(operators, "policy.yaml");
  return bench;
}

async function approvalIn(bench: WorkerBench) {
  return approvalsOf(foldHead(emptyHead, await bench.events()))[0];
}

test("a model decides alone where the policy names the class of the call, by a fact that names it", async () => {
  const bench = await reviewedRun("approve");
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(bench.executed).toHaveLength(1);
  expect(await approvalIn(bench)).toMatchObject({
    state: APPROVED,
    revision: 2,
    review: { votes: true, revision: 1 },
    decision: {
      approved: true,
      decidedBy: "reviewer:judge",
      reason: "It counts to 9.",
      reviewer: {
        model: "judge",
        rubricSha256: createHash("sha256").update(rubric).digest("hex"),
      },
    },
  });
  const facts = (await bench.events()).flatMap(({ event }) =>
    event.case === "approval" ? [event.value.approval?.state] : [],
  );
  expect(facts).toEqual([PENDING, PENDING, APPROVED]);
});

test("a model rejects, and the model of the agent reads that it did", async () => {
  const bench = await reviewedRun("reject");
  await bench.drive("w");
  expect(bench.executed).toEqual([]);
  expect((await approvalIn(bench))?.state).toBe(REJECTED);
  const results = (await bench.events()).flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result?.content] : [],
  );
  expect(results).toEqual(["the reviewer of the agent rejected this call: It counts to 9."]);
});

const two = { name: "two", groups: ["ops"], approvals: 2, denials: 1 };

test.each<[string, string, Policy, object, string | undefined]>([
  ["that is unsure", "unsure", {}, { classes: ["safe"] }, undefined],
  [
    "about a class that the policy does not name",
    "approve",
    {},
    { classes: ["execute"] },
    undefined,
  ],
  [
    "to approve, if only rejections count",
    "approve",
    {},
    { classes: ["safe"], rejectsOnly: true },
    undefined,
  ],
  [
    "to approve for another person",
    "approve",
    { excludeRequester: true },
    { classes: ["safe"] },
    undefined,
  ],
  [
    "about a call that needs a passkey",
    "approve",
    { stepUp: { tools: ["count"] } },
    { classes: ["safe"] },
    undefined,
  ],
  [
    "before the wait of the agent has ended",
    "approve",
    { waits: [{ wait: { seconds: 60n } }] },
    { classes: ["safe"] },
    undefined,
  ],
  [
    "where no alternative counts it",
    "approve",
    { alternatives: [two] },
    { classes: ["safe"] },
    undefined,
  ],
  [
    "about a call for which the operator wants a passkey",
    "approve",
    {},
    { classes: ["safe"] },
    "step_up: [{ name: all, tools: [count] }]",
  ],
  [
    "in a freeze of the operator",
    "approve",
    {},
    { classes: ["safe"] },
    'freezes: [{ name: now, from: "1970-01-01T00:00:00Z", until: "2100-01-01T00:00:00Z" }]',
  ],
])("advice %s is no vote", async (_, advice, policy, votes, operators) => {
  const bench = await reviewedRun(advice, policy, votes);
  if (operators !== undefined) {
    bench.policy = parsePolicyFile(`rules: []\napprovals:\n  ${operators}\n`, "policy.yaml");
  }
  await bench.drive("w");
  const approval = await approvalIn(bench);
  expect(approval).toMatchObject({ state: PENDING, votes: [], review: { problem: "" } });
  expect(approval?.decision).toBeUndefined();
  expect(bench.executed).toEqual([]);
});

test("a vote of a model is one of those that an alternative needs", async () => {
  const bench = await reviewedRun("approve", { alternatives: [{ ...two, reviewer: true }] });
  await bench.drive("w");
  expect(await approvalIn(bench)).toMatchObject({
    state: PENDING,
    votes: [{ countsFor: ["two"], decision: { reviewer: { model: "judge" } } }],
    alternatives: [{ approvalsGiven: 1 }],
  });
  const decision = create(DecisionSchema, { approved: true, decidedBy: "bob" });
  await appendExternal(
    bench,
    key,
    (head) =>
      approvalsOf(head).map((each) => ({
        case: "approval" as const,
        value: { approval: castVote(each, decision, () => true) },
      })),
    never,
  );
  expect(await approvalIn(bench)).toMatchObject({
    state: APPROVED,
    decision: { decidedBy: "bob" },
  });
  await bench.drive("w2", 2);
  expect(bench.executed).toHaveLength(1);
});

const asks = `
rules:
  - name: asks
    permission:
      rules:
        - { tool: count, behavior: ask }
`;

test.each<[string, ApprovalState, boolean]>([
  ["approve is no vote", PENDING, false],
  ["reject is a vote", REJECTED, true],
])("where the operator asks, advice to %s", async (text, state, votes) => {
  const [advice = ""] = text.split(" ");
  const bench = await reviewedRun(advice, {}, undefined, { operators: asks });
  await bench.drive("w");
  const approval = await approvalIn(bench);
  expect(approval?.state).toBe(state);
  expect(approval?.gates).toEqual([GateKind.TOOL, GateKind.PERMISSION]);
  expect(approval?.review?.votes).toBe(votes);
  expect(bench.executed).toEqual([]);
});

test("a vote of a model where the operator asks does not let the call start", async () => {
  const bench = await reviewedRun("approve", {}, undefined, { operators: asks });
  await bench.drive("w");
  const decision = create(DecisionSchema, {
    approved: true,
    decidedBy: "reviewer:judge",
    reviewer: { model: "judge" },
  });
  await bench.decide(APPROVED, undefined, decision);
  await bench.drive("w2", 2);
  expect(bench.executed).toEqual([]);
});

test.each([45, 520])(
  "advice about a call of %d KiB is no vote, and a person decides",
  async (size) => {
    const args = { text: "a".repeat(size * 1024), to: 9 };
    const bench = await reviewedRun("approve", {}, undefined, { args });
    await bench.drive("w");
    expect(await approvalIn(bench)).toMatchObject({
      state: PENDING,
      review: { advice: ReviewAdvice.APPROVE, partial: true, votes: false },
    });
    expect(bench.executed).toEqual([]);
    await bench.decide(APPROVED);
    await bench.drive("w2", 2);
    expect(bench.executed).toHaveLength(1);
  },
);

test("a call with a vote of a model that its agent does not permit is not executed", async () => {
  const bench = await reviewedRun("unsure", {}, { classes: ["execute"] });
  await bench.drive("w");
  const decision = create(DecisionSchema, {
    approved: true,
    decidedBy: "reviewer:judge",
    reviewer: { model: "judge" },
  });
  await bench.decide(APPROVED, undefined, decision);
  await bench.drive("w2", 2);
  expect(bench.executed).toEqual([]);
});
