import { create } from "@bufbuild/protobuf";
import type { Approval, Decision, GrantRequest } from "@reeve/contracts/approval";
import { ApprovalSchema, DecisionSchema } from "@reeve/contracts/approval";
import type { RunHead } from "../../head/run-head.ts";
import { grantOf } from "./grant-of.ts";

/** Returns a decided approval with the grant that its decision makes. Throws a Failure if the decision cannot make it. */
export function withGrant(
  decided: Approval,
  decision: Decision,
  request: GrantRequest,
  at: { readonly head: RunHead; readonly nowMs: number },
): Approval {
  const grant = grantOf(decided, decision, request, at);
  return create(ApprovalSchema, {
    ...decided,
    decision: create(DecisionSchema, { ...decision, grant }),
  });
}
