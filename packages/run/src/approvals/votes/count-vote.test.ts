import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { AlternativeSchema, Approval, Decision } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { countVote } from "./count-vote.ts";

function pending(
  alternatives: readonly MessageInitShape<typeof AlternativeSchema>[],
  excludedSubjects: readonly string[] = [],
): Approval {
  return create(ApprovalSchema, {
    approvalId: "run_1-1-0",
    state: ApprovalState.PENDING,
    alternatives: [...alternatives],
    excludedSubjects: [...excludedSubjects],
  });
}

type Cast = readonly [subject: string, approved: boolean, groups?: readonly string[]];

function after(approval: Approval, ...votes: readonly Cast[]): Approval {
  return votes.reduce((before, [subject, approved, groups = []]) => {
    const decision: Decision = create(DecisionSchema, { approved, decidedBy: subject });
    return countVote(before, decision, { tenant: "acme", subject, groups: new Set(groups) });
  }, approval);
}

/** Returns the approval after a member of `security` approved it, with another text if given. */
function edited(before: Approval, subject: string, text?: string): Approval {
  const others = text === undefined ? {} : { editedArguments: { text } };
  const decision = create(DecisionSchema, { approved: true, decidedBy: subject, ...others });
  return countVote(before, decision, { tenant: "acme", subject, groups: new Set(member) });
}

const twoOf = { name: "1", groups: ["security"], approvals: 2, denials: 2 };
const member = ["security"];

describe("votes on an approval", () => {
  // Requirement: HITL-7
  test("decide it when a threshold is reached, in both directions", () => {
    const one = after(pending([twoOf]), ["ann", true, member]);
    expect(one).toMatchObject({ state: ApprovalState.PENDING, revision: 1 });
    expect(one.alternatives).toMatchObject([{ approvalsGiven: 1, denialsGiven: 0 }]);
    expect(after(one, ["bob", true, member])).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { decidedBy: "bob" },
    });
    const denied = after(one, ["bob", false, member], ["eve", false, member]);
    expect(denied.state).toBe(ApprovalState.REJECTED);
  });

  test("count once for each person, whose last vote replaces the others", () => {
    const twice = after(pending([twoOf]), ["ann", true, member], ["ann", true, member]);
    expect(twice.state).toBe(ApprovalState.PENDING);
    const changed = after(twice, ["ann", false, member]);
    expect(changed.votes).toHaveLength(1);
    expect(changed.alternatives).toMatchObject([{ approvalsGiven: 0, denialsGiven: 1 }]);
    const flips: Cast[] = Array.from({ length: 3 }, (_, turn) => ["ann", turn % 2 === 0, member]);
    expect(() => after(changed, ...flips)).toThrow("voted 5 times");
  });

  test("count for any alternative that names the person", () => {
    const either = pending([twoOf, { name: "lead", people: ["lea"], approvals: 1, denials: 1 }]);
    expect(after(either, ["ann", true, member], ["lea", true]).state).toBe(ApprovalState.APPROVED);
    expect(after(either, ["lea", false]).state).toBe(ApprovalState.REJECTED);
  });

  test("do not add up if they approve different arguments", () => {
    const approval = pending([twoOf]);
    const split = edited(edited(approval, "ann"), "bob", "x");
    expect(split.state).toBe(ApprovalState.PENDING);
    expect(edited(split, "eve", "x")).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { editedArguments: { text: "x" } },
    });
  });

  test("are refused from people whom the alternatives do not name, or who are excluded", () => {
    expect(() => after(pending([twoOf]), ["mallory", true, ["sales"]])).toThrow(
      "mallory may not decide approval run_1-1-0; those who may: group security",
    );
    expect(() => after(pending([twoOf], ["ann"]), ["ann", true, member])).toThrow(
      "ann may not decide",
    );
    expect(() => after(pending([], ["ann"]), ["ann", false])).toThrow("ask somebody else");
  });
});
