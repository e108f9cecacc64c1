import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalSchema, ApprovalState, DecisionSchema, GateKind } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { castVote } from "@reeve/run/approvals/votes/count-vote";
import { appendExternal } from "@reeve/run/commands/append-external";
import { approvalsOf } from "@reeve/run/head/run-head";
import { expect, test } from "vitest";
import { approvalIn, reviewedRun, two, voteAs } from "../../../test/support/reviewed-run.ts";
import { expectWhole, key, resultsOf } from "../../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const { PENDING, APPROVED, REJECTED } = ApprovalState;

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

test("where a rule of the agent alone asks, a model decides, and the approval says whose rule it was", async () => {
  const bench = await reviewedRun("approve", {}, undefined, { own: ["count"] });
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(await approvalIn(bench)).toMatchObject({
    state: APPROVED,
    gates: [GateKind.PERMISSION],
    permission: { rule: "count", source: "agent", askingSources: ["agent"] },
    decision: { reviewer: { model: "judge" } },
  });
  expect(bench.executed).toHaveLength(1);
});

test("where rules of the agent and of the operator ask, advice to approve is no vote", async () => {
  const bench = await reviewedRun("approve", {}, undefined, { own: ["count"], operators: asks });
  await bench.drive("w");
  expect(await approvalIn(bench)).toMatchObject({
    state: PENDING,
    permission: { source: "agent", askingSources: ["agent", "policy"] },
    review: { votes: false },
  });
  expect(bench.executed).toEqual([]);
});

test("an approval of an earlier version, which does not say whose rule asks, has no vote of a model", async () => {
  const bench = await reviewedRun("unsure", {}, undefined, { own: ["count"] });
  await bench.drive("w");
  const decision = create(DecisionSchema, {
    approved: true,
    decidedBy: "reviewer:judge",
    reviewer: { model: "judge" },
  });
  await appendExternal(
    bench,
    key,
    (head) =>
      approvalsOf(head).map((each) => {
        const old = create(ApprovalSchema, {
          ...each,
          ...(each.permission && { permission: { ...each.permission, askingSources: [] } }),
        });
        return {
          case: "approval" as const,
          value: { approval: castVote(old, decision, () => true) },
        };
      }),
    never,
  );
  await bench.drive("w2", 2);
  expect((await approvalIn(bench))?.state).toBe(APPROVED);
  expect(bench.executed).toEqual([]);
});

const unasking = "rules: []";

test("a rule of the operator that asks since the run was prepared permits no vote of a model", async () => {
  const changes = { operators: unasking, meanwhile: asks };
  const bench = await reviewedRun("approve", {}, undefined, changes);
  await bench.drive("w");
  expect(await approvalIn(bench)).toMatchObject({ state: PENDING, review: { votes: false } });
});

test("a call for which a model voted is not executed once a rule of the operator asks", async () => {
  const policy = { alternatives: [{ ...two, reviewer: true }] };
  const bench = await reviewedRun("approve", policy, undefined, { operators: unasking });
  await bench.drive("w");
  bench.policy = parsePolicyFile(asks, "policy.yaml");
  await voteAs(bench, "bob");
  await bench.drive("w2", 2);
  expect((await approvalIn(bench))?.state).toBe(APPROVED);
  expect(bench.executed).toEqual([]);
  expect(await resultsOf(bench)).toEqual([
    'the call was cancelled: a model voted for this call, and the permission rule count in the rule "asks" of the operator\'s policy asks a person now',
  ]);
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
