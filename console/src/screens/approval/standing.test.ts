import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, CallerStandingKind } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { isMine, whoDecides } from "./standing.ts";

const approvers = { groups: ["role:approver"] };

test("names for whom an approval waits, without those who may not vote or have voted", () => {
  expect(whoDecides(create(ApprovalSchema))).toBe("anyone with the role approver");
  expect(whoDecides(create(ApprovalSchema, { alternatives: [{ people: ["ann"] }] }))).toBe("ann");
  const voted = create(ApprovalSchema, {
    alternatives: [approvers],
    excludedSubjects: ["dan"],
    votes: [{ decision: { decidedBy: "carol" } }],
  });
  expect(whoDecides(voted)).toBe("anyone with the role approver, but not dan or carol");
});

test("an approval waits for a person unless the server says why not", () => {
  expect(isMine(create(ApprovalSchema))).toBe(true);
  const kinds = [CallerStandingKind.MAY_DECIDE, CallerStandingKind.VOTED];
  expect(kinds.map((kind) => isMine(create(ApprovalSchema, { callerStanding: { kind } })))).toEqual(
    [true, false],
  );
});
