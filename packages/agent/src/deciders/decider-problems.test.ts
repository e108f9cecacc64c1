import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { DecisionAlternativeSchema } from "@reeve/contracts/agent";
import { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { deciderProblems, unreachableWithout } from "./decider-problems.ts";

type Init = MessageInitShape<typeof DecisionAlternativeSchema>;

const policyOf = (...alternatives: readonly Init[]) =>
  create(ApprovalPolicySchema, { alternatives: [...alternatives] });

test.each<[string, Init, string]>([
  ["too few people to approve", { people: ["ann"], approvals: 2 }, "approvals"],
  ["too few people to reject", { people: ["ann"], denials: 2 }, "denials"],
  ["a filter that is no expression", { filter: "tool ==" }, "filter"],
  ["a role that does not exist", { groups: ["role:boss"] }, "groups"],
])("a policy is refused with %s", (_, alternative, part) => {
  const fields = deciderProblems(policyOf(alternative)).map(({ field }) => field);
  expect(fields).toEqual([`approval_policy.alternatives[0].${part}`]);
});

test.each([
  [{}, "approval_policy.break_glass"],
  [{ groups: ["role:boss"] }, "approval_policy.break_glass.groups"],
])("a policy is refused with a break-glass that nobody may use: %j", (breakGlass, field) => {
  const policy = create(ApprovalPolicySchema, { breakGlass });
  expect(deciderProblems(policy).map((each) => each.field)).toEqual([field]);
});

test("a policy whose groups may have enough members is accepted", () => {
  const wide = { people: ["ann"], groups: ["security", "role:operator"], approvals: 3 };
  expect(deciderProblems(policyOf(wide, { approvals: 2 }))).toEqual([]);
});

test("a policy cannot be satisfied if all the people it names are excluded", () => {
  const { alternatives } = policyOf({ people: ["ann"] });
  expect(unreachableWithout(alternatives, new Set(["ann"]))).toContain("nobody can approve");
  expect(unreachableWithout(alternatives, new Set(["bob"]))).toBeUndefined();
});
