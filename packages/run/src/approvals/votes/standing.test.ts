import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState, CallerStandingKind } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { standingOf } from "./standing.ts";

const two = { name: "two", groups: ["security"], approvals: 2, denials: 2 };

function standing(
  approval: MessageInitShape<typeof ApprovalSchema>,
  subject: string,
  ...groups: readonly string[]
) {
  const pending = create(ApprovalSchema, { state: ApprovalState.PENDING, ...approval });
  return standingOf(pending, { tenant: "acme", subject, groups: new Set(groups) });
}

test("an approval waits for everyone whose decision counts, and says why not for others", () => {
  const asked = { requestedBy: "ann", alternatives: [two], excludedSubjects: ["ann"] };
  const voted = { ...asked, votes: [{ decision: { approved: true, decidedBy: "carol" } }] };
  const member = ["role:approver", "security"];
  expect(standing(asked, "carol", ...member)).toMatchObject({
    kind: CallerStandingKind.MAY_DECIDE,
    reason: "",
  });
  expect(standing(asked, "ann", ...member)).toMatchObject({
    kind: CallerStandingKind.EXCLUDED,
    reason: "ann started the run",
  });
  expect(standing(asked, "dan", "role:approver")).toMatchObject({
    kind: CallerStandingKind.NOT_NAMED,
    reason: "dan is not one of those who may decide: group security",
  });
  expect(standing(voted, "carol", ...member)?.kind).toBe(CallerStandingKind.VOTED);
  expect(standing(asked, "bob", "role:viewer", "security")?.kind).toBe(
    CallerStandingKind.MISSING_ROLE,
  );
});

test("nothing is said about closed approvals, and to those whose groups are not known", () => {
  expect(standing({ state: ApprovalState.APPROVED }, "carol", "role:approver")).toBeUndefined();
  expect(standing({ alternatives: [two] }, "carol")).toBeUndefined();
});
