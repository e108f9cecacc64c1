import type { ServiceImpl } from "@connectrpc/connect";
import type { ApprovalService } from "@reeve/contracts/approval";
import { reportEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { memberOf, principalOf } from "@reeve/platform/rpc/principal";
import type { ApprovalPorts } from "../app/approval-ports.ts";
import { answerQuestion } from "@reeve/run/approvals/answer-question";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { decideApprovals } from "../app/decide-approvals.ts";
import { listGrants } from "../app/grants/list-grants.ts";
import { revokeGrant } from "../app/grants/revoke-grant.ts";
import { assertRoomForGrant, storeGrant } from "../app/grants/store-grants.ts";
import { countApprovals } from "../app/inbox/count-approvals.ts";
import { watchApprovals } from "../app/inbox/watch-approvals.ts";
import { getApproval, listApprovals, shownNow } from "../app/read-approvals.ts";

/** Returns the handlers of ApprovalService. */
export function approvalService(ports: ApprovalPorts): ServiceImpl<typeof ApprovalService> {
  return {
    listApprovals: async (request, context) => {
      const page = await listApprovals(ports, memberOf(context), request, context.signal);
      return { approvals: [...page.items], nextPageToken: page.nextPageToken };
    },
    countApprovals: (_, context) => countApprovals(ports, memberOf(context), context.signal),
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
      const answering = { ...ports, onAppended: () => reportEffect(context) };
      const approval = await answerQuestion(answering, memberOf(context), request, context.signal);
      return { approval: shownNow(ports, tenant)(approval) };
    },
    decideApprovals: async (request, context) => {
      const deciding = { ...ports, onAppended: () => reportEffect(context) };
      return {
        results: await decideApprovals(deciding, memberOf(context), request, context.signal),
      };
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
    async *watchApprovals(request, context) {
      const changes = watchApprovals(ports, memberOf(context), request, context.signal);
      for await (const approval of changes) {
        yield { approvals: approval === undefined ? [] : [approval] };
      }
    },
  };
}
