import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema, ApprovalPolicySchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { deciderProblems } from "./decider-problems.ts";
import { policyForTenant } from "../policy/caller-policy.ts";
import { parsePolicyFile } from "../policy/policy-file.ts";
import { agentWaitMs, operatorWaitProblems, waitWarnings } from "./wait-of.ts";

const seconds = (count: number) => ({ seconds: BigInt(count), nanos: 0 });

const policyOf = (timeout: number) =>
  create(ApprovalPolicySchema, { timeout: seconds(timeout), waits: [{ wait: seconds(60) }] });

test("of the waits that name a tool, the longest counts", () => {
  const policy = create(ApprovalPolicySchema, {
    waits: [{ wait: seconds(60) }, { tools: ["pay*", "x"], wait: seconds(600) }],
  });
  expect(agentWaitMs(policy, "pay_bill")).toBe(600_000);
  expect(agentWaitMs(policy, "read")).toBe(60_000);
  expect(agentWaitMs(undefined, "read")).toBe(0);
});

test("a wait that is as long as the approval is valid is refused, because nobody could approve", () => {
  expect(deciderProblems(policyOf(61))).toEqual([]);
  expect(deciderProblems(policyOf(60))).toMatchObject([
    { field: "approval_policy.waits[0].wait", reason: "UNSATISFIABLE" },
  ]);
});

test("a wait for a pattern that cannot be read is refused, and would hold for every tool", () => {
  const policy = create(ApprovalPolicySchema, { waits: [{ tools: ["pay\\"], wait: seconds(60) }] });
  expect(deciderProblems(policy)).toMatchObject([{ field: "approval_policy.waits[0].tools[0]" }]);
  expect(agentWaitMs(policy, "read")).toBe(60_000);
});

test("a timeout within the operator's wait for a tool is refused, because nobody could approve", () => {
  const waits = parsePolicyFile(
    "rules: []\napprovals: { waits: [{ name: slow, agents: [buyer], tools: [pay], wait: 60s }] }",
    "policy.yaml",
  );
  const problems = (id: string, timeout: number, tenant = "acme") =>
    operatorWaitProblems(
      create(AgentSpecSchema, {
        id,
        hitlTools: ["read", "pay"],
        approvalPolicy: { timeout: seconds(timeout) },
      }),
      policyForTenant(waits, tenant).waitMs,
    );
  expect(problems("buyer", 60)).toMatchObject([
    { field: "approval_policy.timeout", reason: "UNSATISFIABLE" },
  ]);
  expect(problems("buyer", 61)).toEqual([]);
  expect(problems("reader", 60)).toEqual([]);
});

test("a wait that is for no tool of the agent has a warning", () => {
  const policy = create(ApprovalPolicySchema, {
    waits: [{ tools: ["pay*"], wait: seconds(60) }, { wait: seconds(1) }],
  });
  expect(waitWarnings(policy, [{ name: "read" }])).toEqual([
    "approval_policy.waits[0]: the agent has no tool that pay* names",
  ]);
  expect(waitWarnings(policy, [{ name: "pay" }])).toEqual([]);
});
