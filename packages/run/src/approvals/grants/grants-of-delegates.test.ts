import { create } from "@bufbuild/protobuf";
import {
  ApprovalSchema,
  ApprovalState,
  DecisionSchema,
  GrantRequestSchema,
  GrantScope,
} from "@reeve/contracts/approval";
import { RunCreatedSchema, RunPreparedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { emptyHead } from "../../head/run-head.ts";
import { grantOf } from "./grant-of.ts";
import { grantProblem } from "./grant-problem.ts";

const head = {
  ...emptyHead,
  created: create(RunCreatedSchema, { agentId: "lead", agentRevision: 1 }),
  prepared: create(RunPreparedSchema, { tools: [{ name: "pay" }] }),
};
const decision = create(DecisionSchema, { approved: true, decidedBy: "ann" });
const request = create(GrantRequestSchema, { scope: GrantScope.AGENT, rule: "pay" });

/** Returns an approval of a call that the delegate makes; of the agent of the run, if it is empty. */
const approvalOf = (delegateId: string, state: ApprovalState) =>
  create(ApprovalSchema, {
    approvalId: "a",
    agentId: "lead",
    delegateId,
    state,
    call: { callId: "c", name: "pay", arguments: {} },
  });

test("no grant is made with the approval of a call of a delegate, and none decides one", () => {
  const { APPROVED, PENDING } = ApprovalState;
  const grant = grantOf(approvalOf("", APPROVED), decision, request, { head, nowMs: 0 });
  expect(grantProblem(grant, approvalOf("", PENDING), head)).toBeUndefined();
  expect(grantProblem(grant, approvalOf("payer", PENDING), head)).toContain("the delegate payer");
  const made = () => grantOf(approvalOf("payer", APPROVED), decision, request, { head, nowMs: 0 });
  expect(made).toThrow("a delegate of the agent makes the call");
});
