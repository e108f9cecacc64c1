import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState, CallerStandingKind } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { firstApproval, nextApproval, shownApproval } from "./shown-approval.ts";

const approvalOf = (approvalId: string, state: ApprovalState = ApprovalState.PENDING) =>
  create(ApprovalSchema, { approvalId, state });
const [a, b] = [approvalOf("a"), approvalOf("b")];

test("the approval that the address names is shown, and never another one", () => {
  const listed = [a, b];
  expect(shownApproval("b", { listed, read: undefined })).toEqual({ approval: b, isWaiting: true });
  expect(shownApproval("gone", { listed, read: undefined })).toBeUndefined();
  // Read for the address before.
  expect(shownApproval("gone", { listed, read: a })).toBeUndefined();
});

test("an approval that is not in the list is shown as it is: decided, or beyond the filters", () => {
  const decided = approvalOf("c", ApprovalState.APPROVED);
  expect(shownApproval("c", { listed: [a], read: decided })).toEqual({
    approval: decided,
    isWaiting: false,
  });
  const beyond = approvalOf("c");
  expect(shownApproval("c", { listed: [a], read: beyond })?.isWaiting).toBe(true);
});

test("a decided approval stays decided although an older list has it", () => {
  const decided = approvalOf("a", ApprovalState.REJECTED);
  expect(shownApproval("a", { listed: [a, b], read: decided })?.isWaiting).toBe(false);
});

test("of two versions of an approval, the later one is shown", () => {
  const [older, later] = [1, 2].map((revision) =>
    create(ApprovalSchema, { approvalId: "a", state: ApprovalState.PENDING, revision }),
  );
  if (older === undefined || later === undefined) throw new Error("there are two");
  expect(shownApproval("a", { listed: [older], read: later })?.approval).toBe(later);
  expect(shownApproval("a", { listed: [later], read: older })?.approval).toBe(later);
});

test("an address without an id leads to the first approval of the filters", () => {
  expect(firstApproval([a, b], { isOutdated: false })).toBe(a);
  expect(firstApproval([a, b], { isOutdated: true })).toBeUndefined();
  expect(firstApproval([], { isOutdated: false })).toBeUndefined();
});

test("what waits for the person comes first, and next after a decision", () => {
  const standing = { kind: CallerStandingKind.EXCLUDED };
  const others = create(ApprovalSchema, { approvalId: "others", callerStanding: standing });
  expect(firstApproval([others, a], { isOutdated: false })).toBe(a);
  expect(firstApproval([others], { isOutdated: false })).toBe(others);
  expect(nextApproval([a, others, b], "a")).toBe(b);
  expect(nextApproval([a, others, b], "b")).toBe(a);
  expect(nextApproval([a, others], "a")).toBeUndefined();
});
