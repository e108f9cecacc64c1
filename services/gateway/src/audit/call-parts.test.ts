import { create } from "@bufbuild/protobuf";
import {
  ApprovalService,
  DecideApprovalRequestSchema,
  DecideApprovalsRequestSchema,
  DecideApprovalsResponseSchema,
} from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { succeeded } from "./call-outcome.ts";
import { partsOf } from "./call-parts.ts";

const { decideApproval, decideApprovals } = ApprovalService.method;
const decided = [{ approvalId: "ap_1" }, { approvalId: "ap_2" }];
const request = create(DecideApprovalsRequestSchema, { decided, reason: "a secret" });
const approval = (id: string) => ({ kind: "approval", id });

test("each decision of a call is recorded with its outcome", () => {
  const response = create(DecideApprovalsResponseSchema, {
    results: [
      { approvalId: "ap_1", runId: "run_1" },
      {
        approvalId: "ap_2",
        error: { code: "FAILED_PRECONDITION", reason: "APPROVAL_CLOSED", message: "a secret" },
      },
    ],
  });
  expect(partsOf(decideApprovals, { request, response }, succeeded)).toEqual([
    { outcome: succeeded, resources: [approval("ap_1"), { kind: "run", id: "run_1" }] },
    {
      outcome: { code: "FAILED_PRECONDITION", reason: "APPROVAL_CLOSED" },
      resources: [approval("ap_2")],
    },
  ]);
});

test("a call that fails as a whole is recorded for each decision, up to a limit", () => {
  const outcome = { code: "UNAVAILABLE", reason: "UNAVAILABLE" };
  expect(partsOf(decideApprovals, { request }, outcome)).toEqual([
    { outcome, resources: [approval("ap_1")] },
    { outcome, resources: [approval("ap_2")] },
  ]);
  const many = create(DecideApprovalsRequestSchema, {
    decided: Array.from({ length: 1_000 }, (_, index) => ({ approvalId: `ap_${index}` })),
  });
  expect(partsOf(decideApprovals, { request: many }, outcome)).toHaveLength(100);
});

test("a call without parts is recorded once", () => {
  const one = create(DecideApprovalRequestSchema, { approvalId: "ap_1" });
  expect(partsOf(decideApproval, { request: one }, succeeded)).toEqual([
    { outcome: succeeded, resources: [approval("ap_1")] },
  ]);
});
