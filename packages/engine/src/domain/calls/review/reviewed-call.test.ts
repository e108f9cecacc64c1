import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState, ReviewAdvice } from "@reeve/contracts/approval";
import { PermissionClass, ToolCallSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../../test/support/run-player.ts";
import { reviewedCall } from "./reviewed-call.ts";
import { withReviewerVote } from "./reviewer-vote.ts";

const rubric = "Does it count too far?";
const { PENDING, APPROVED } = ApprovalState;

test("a vote on an approval that has grown meanwhile leaves the advice without it", () => {
  const approvalPolicy = { reviewer: { rubric, votes: { classes: ["safe"] } } };
  const { state } = new PlayedRun({ hitlTools: ["search"], approvalPolicy });
  const review = { advice: ReviewAdvice.APPROVE, votes: true, model: "judge" };
  const approvalOf = (text: string) =>
    create(ApprovalSchema, {
      state: PENDING,
      permissionClass: PermissionClass.SAFE,
      call: { name: "search", arguments: { text } },
      review,
    });
  expect(withReviewerVote(state, approvalOf("short"))?.state).toBe(APPROVED);
  expect(withReviewerVote(state, approvalOf("a".repeat(500 * 1024)))).toBeUndefined();
});

const file = (more: object) => ({ path: "a.txt", state: "file", preview: "text", ...more });

test.each<[string, object[], boolean]>([
  ["no files", [], true],
  ["a file that its preview has whole", [file({ sizeBytes: 4n })], true],
  ["a path without a file", [{ path: "a.txt", state: "absent" }], true],
  ["a file that is longer than its preview", [file({ sizeBytes: 5n })], false],
  ["a file without a preview", [file({ preview: "", sizeBytes: 9n })], false],
])("a call with %s is shown as it is", (_, files, isWhole) => {
  const call = { callId: "c", name: "read", arguments: {} };
  const approval = create(ApprovalSchema, { content: { files } });
  const shown = reviewedCall(undefined, { call: create(ToolCallSchema, call), approval });
  expect(shown.isWhole).toBe(isWhole);
});
