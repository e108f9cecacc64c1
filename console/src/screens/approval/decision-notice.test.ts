import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { noticeOf } from "./decision-notice.ts";

test("a decision is confirmed with its call, and a vote with those who have to vote", () => {
  const call = { name: "refund", arguments: { order: "1077", amount: 9.5 } };
  const approved = create(ApprovalSchema, { call, state: ApprovalState.APPROVED });
  expect(noticeOf(approved)).toBe('You approved refund order: "1077", amount: 9.5.');
  const voted = create(ApprovalSchema, {
    call: { name: "refund" },
    state: ApprovalState.PENDING,
    alternatives: [{ groups: ["security"] }],
    votes: [{ decision: { decidedBy: "carol" } }],
  });
  expect(noticeOf(voted)).toBe(
    "Your vote about refund is counted. It waits for group security, but not carol.",
  );
});

test("names an approval of a workflow by its question", () => {
  const call = {
    name: "workflow_approval",
    nodeId: "approve",
    arguments: { question: "Ship it?" },
  };
  const decided = create(ApprovalSchema, { call, state: ApprovalState.APPROVED });
  expect(noticeOf(decided)).toBe("You approved “Ship it?”.");
});
