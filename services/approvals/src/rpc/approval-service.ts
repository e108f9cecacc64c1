import type { ServiceImpl } from "@connectrpc/connect";
import type { ApprovalService } from "@reeve/contracts/approval";
import { reportEffect } from "@reeve/platform/rpc/call-effect";
import { memberOf, principalOf } from "@reeve/platform/rpc/principal";
import type { ApprovalPorts } from "../app/approval-ports.ts";
import { answerQuestion } from "@reeve/run/approvals/answer-question";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { listGrants } from "../app/grants/list-grants.ts";
import { revokeGrant } from "../app/grants/revoke-grant.ts";
import { assertRoomForGrant, storeGrant } from "../app/grants/store-grants.ts";
import { getApproval, listApprovals, shownNow, watchApprovals } from "../app/read-approvals.ts";

/** Returns the handlers of ApprovalService. */
export function approvalService(ports: ApprovalPorts): ServiceImpl<typeof ApprovalService> {
  return {
    listApprovals: async (request, context) => {
      const { tenant } = principalOf(context);
      const page = await listApprovals(ports, tenant, request, context.signal);
      return { approvals: [...page.items], nextPageToken: page.nextPageToken };
    },
    getApproval: async ({ approvalId }, context) => {
      const { tenant } = principalOf(context);
      return { approval: await getApproval(ports, tenant, approvalId, context.signal) };
    },
    decideApproval: async (request, context) => {
      const { tenant } = principalOf(context);
      const { signal } = context;
      if (request.grant !== undefined) await assertRoomForGrant(ports, tenant, signal);
      const deciding = { ...ports, onAppended: () => reportEffect(context) };
      const approval = await decideApproval(deciding, memberOf(context), request, signal);
      await storeGrant(ports, tenant, approval, signal);
      return { approval: shownNow(ports, tenant)(approval) };
    },
    answerQuestion: async (request, context) => {
      const { tenant } = principalOf(context);
      const approval = await answerQuestion(ports, memberOf(context), request, context.signal);
      return { approval: shownNow(ports, tenant)(approval) };
    },
    listGrants: async (request, context) => {
      const { tenant } = principalOf(context);
      const page = await listGrants(ports, tenant, request, context.signal);
      return { grants: [...page.items], nextPageToken: page.nextPageToken };
    },
    revokeGrant: async ({ grantId }, context) => {
      const { tenant, subject } = principalOf(context);
      const grant = await revokeGrant(
        { ...ports, onRevoked: () => reportEffect(context) },
        tenant,
        { grantId, revokedBy: subject },
        context.signal,
      );
      return { grant };
    },
    async *watchApprovals({ runId }, context) {
      const { tenant } = principalOf(context);
      for await (const approval of watchApprovals(ports, tenant, runId, context.signal)) {
        yield { approvals: approval === undefined ? [] : [approval] };
      }
    },
  };
}
