import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { deciderProblems } from "./decider-problems.ts";

type Policy = Exclude<MessageInitShape<typeof ApprovalPolicySchema>, { $typeName: string }>;

const hour = { seconds: 3_600n };
const finance = { groups: ["finance"] };
const problems = (policy: Policy) =>
  deciderProblems(create(ApprovalPolicySchema, policy)).map(
    ({ field, reason }) => `${field} ${reason}`,
  );
const escalating = (alternative: object, more: Policy = {}): Policy => ({
  alternatives: [finance],
  escalations: [{ after: hour, alternative }],
  ...more,
});
const path = "approval_policy.escalations[0]";

test.each<[string, Policy, string[]]>([
  ["that comes before the expiry", escalating(finance, { timeout: { seconds: 3_601n } }), []],
  [
    "that comes with the expiry",
    escalating(finance, { timeout: hour }),
    [`${path}.after UNSATISFIABLE`],
  ],
  [
    "to people who may decide from the start",
    escalating(finance, { alternatives: [] }),
    [`${path}.alternative CONTRADICTION`],
  ],
  ["to nobody new, which only notifies", escalating({}, { alternatives: [] }), []],
  [
    "that needs more people than it names",
    escalating({ people: ["ann"], approvals: 2 }),
    [`${path}.alternative.approvals UNSATISFIABLE`],
  ],
  [
    "with the name of an alternative",
    escalating({ name: "1" }),
    [`${path}.alternative.name MALFORMED`],
  ],
  [
    "with a filter that cannot be read",
    escalating({ filter: "tool ==" }),
    [`${path}.alternative.filter MALFORMED`],
  ],
])("of an escalation %s, these are problems", (_, policy, expected) => {
  expect(problems(policy)).toEqual(expected);
});
