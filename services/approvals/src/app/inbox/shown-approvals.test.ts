import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { numbered } from "../../../test/support/listed-approvals.ts";
import { ShownApprovals } from "./shown-approvals.ts";

test("the pending approvals that a client has are known up to a limit, and that some are not is known", () => {
  const shown = new ShownApprovals(2);
  const known = () => [1, 2, 3].filter((number) => shown.has(numbered(number)));
  shown.noteEarlier(numbered(1));
  expect(shown.isNews(numbered(2))).toBe(true);
  expect(shown.isNews(numbered(2))).toBe(false);
  expect([known(), shown.hasForgotten]).toEqual([[1, 2], false]);
  expect(shown.isNews(numbered(1))).toBe(true);
  expect(shown.isNews(numbered(3))).toBe(true);
  expect([known(), shown.hasForgotten]).toEqual([[2, 3], true]);
  expect(shown.isNews(numbered(3, { state: ApprovalState.APPROVED }))).toBe(true);
  expect(known()).toEqual([2]);
});
