import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalState, DecisionSchema, ReviewAdvice } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ReviewPolicy } from "../../../test/support/reviewed-run.ts";
import {
  approvalIn,
  reviewedRun,
  rubric,
  two,
  voteAs,
} from "../../../test/support/reviewed-run.ts";
import { expectWhole } from "../../../test/support/worker-bench.ts";

const { PENDING, APPROVED, REJECTED } = ApprovalState;

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

test.each<[string, string, ReviewPolicy, object, string | undefined]>([
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
  await voteAs(bench, "bob");
  expect(await approvalIn(bench)).toMatchObject({
    state: APPROVED,
    decision: { decidedBy: "bob" },
  });
  await bench.drive("w2", 2);
  expect(bench.executed).toHaveLength(1);
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
