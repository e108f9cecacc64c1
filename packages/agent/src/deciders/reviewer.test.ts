import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { GateKind } from "@reeve/contracts/approval";
import { PermissionClass, PermissionDecisionSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { deciderProblems } from "./decider-problems.ts";
import { reviewerVotes } from "./reviewer.ts";

type Init = Exclude<MessageInitShape<typeof ApprovalPolicySchema>, { readonly $typeName: string }>;

const { WORKSPACE_WRITE, EXECUTE, UNSPECIFIED } = PermissionClass;
const written = { permissionClass: WORKSPACE_WRITE, gates: [GateKind.TOOL] };
const votes = { classes: ["workspace_write"] };
const policy = (more: Init, of: object = { votes }) =>
  create(ApprovalPolicySchema, { reviewer: { rubric: "Is it safe?", ...of }, ...more });

/** Returns whether advice to approve is a vote on calls of three classes. */
const asked = (given: Init, of?: object) =>
  [WORKSPACE_WRITE, EXECUTE, UNSPECIFIED].map((permissionClass) =>
    reviewerVotes(policy(given, of), { permissionClass, gates: [] }, true),
  );

test("advice is a vote only if the policy says so, for the classes that it names", () => {
  expect(asked({})).toEqual([true, false, false]);
  expect(asked({}, {})).toEqual([false, false, false]);
  expect(reviewerVotes(undefined, written, true)).toBe(false);
});

test("a model never approves where the policy asks for another person, and may reject there", () => {
  for (const person of [{ excludeRequester: true }, { excludeAuthor: true }]) {
    expect(reviewerVotes(policy(person), written, true)).toBe(false);
    expect(reviewerVotes(policy(person), written, false)).toBe(true);
  }
  const careful = policy({}, { votes: { ...votes, rejectsOnly: true } });
  expect(reviewerVotes(careful, written, true)).toBe(false);
  expect(reviewerVotes(careful, written, false)).toBe(true);
});

test.each([GateKind.PERMISSION, GateKind.TOOL_SOURCE])(
  "a model never approves a call that gate %d holds, and may reject it",
  (gate) => {
    const held = { permissionClass: WORKSPACE_WRITE, gates: [GateKind.TOOL, gate] };
    expect(reviewerVotes(policy({}), held, true)).toBe(false);
    expect(reviewerVotes(policy({}), held, false)).toBe(true);
  },
);

test.each<readonly [string, readonly string[], boolean]>([
  ["the agent's own rules alone", ["agent"], true],
  ["a rule of the operator's policy", ["policy"], false],
  ["both", ["agent", "policy"], false],
  ["rules of another kind", ["agent", "tenant"], false],
  ["rules whose origin an earlier version did not record", [], false],
])("where %s ask, a model approves: %j %j", (_, askingSources, counts) => {
  const permission = create(PermissionDecisionSchema, {
    source: "agent",
    askingSources: [...askingSources],
  });
  const held = { ...written, gates: [GateKind.TOOL, GateKind.PERMISSION], permission };
  expect(reviewerVotes(policy({}), held, true)).toBe(counts);
  expect(reviewerVotes(policy({}), held, false)).toBe(true);
});

const one = { name: "one", groups: ["ops"], approvals: 1, denials: 1 };

test.each<[string, Init, object | undefined, string]>([
  ["names no classes", {}, { votes: {} }, "reviewer.votes.classes REQUIRED"],
  [
    "names an unknown class",
    {},
    { votes: { classes: ["exec"] } },
    "reviewer.votes.classes[0] UNKNOWN",
  ],
  ["excludes the requester", { excludeRequester: true }, undefined, "reviewer.votes CONTRADICTION"],
  ["excludes the author", { excludeAuthor: true }, undefined, "reviewer.votes CONTRADICTION"],
  [
    "wants a passkey for the class",
    { stepUp: { classes: ["workspace_write"] } },
    undefined,
    "reviewer.votes.classes CONTRADICTION",
  ],
  [
    "has alternatives without it",
    { alternatives: [one] },
    undefined,
    "reviewer.votes CONTRADICTION",
  ],
  [
    "counts votes that it does not permit",
    { alternatives: [{ ...one, reviewer: true }] },
    {},
    "alternatives[0].reviewer CONTRADICTION",
  ],
  [
    "needs it to reach a threshold",
    { alternatives: [{ name: "two", people: ["ann"], approvals: 2, reviewer: true }] },
    undefined,
    "alternatives[0].approvals UNSATISFIABLE",
  ],
])("a policy with votes of a model that %s is refused when it is saved", (_, more, of, problem) => {
  const found = deciderProblems(policy(more, of)).map(({ field, reason }) => `${field} ${reason}`);
  expect(found).toEqual([`approval_policy.${problem}`]);
});

test("a policy with votes of a model is accepted, also beside rules about people if they only reject", () => {
  const rejects = { votes: { ...votes, rejectsOnly: true } };
  const people = { excludeRequester: true, stepUp: { classes: ["workspace_write"] } };
  expect(deciderProblems(policy({}))).toEqual([]);
  expect(deciderProblems(policy(people, rejects))).toEqual([]);
  expect(
    deciderProblems(policy({ alternatives: [one, { ...one, name: "b", reviewer: true }] })),
  ).toEqual([]);
});
