import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ApprovalService } from "@reeve/contracts/approval";
import { reportEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { memberOf, principalOf } from "@reeve/platform/rpc/principal";
import type { ApprovalPorts } from "../app/approval-ports.ts";
import { answerQuestion } from "@reeve/run/approvals/answer-question";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { assignApproval, commentApproval } from "@reeve/run/approvals/notes/annotate-approval";
import { decideApprovals } from "../app/decide-approvals.ts";
import { confirmationOf } from "../app/passkeys/confirm-approval.ts";
import { listGrants } from "../app/grants/list-grants.ts";
import { revokeGrant } from "../app/grants/revoke-grant.ts";
import { assertRoomForGrant, storeGrant } from "../app/grants/store-grants.ts";
import { countApprovals } from "../app/inbox/count-approvals.ts";
import { similarDecisions } from "../app/inbox/similar-decisions.ts";
import { watchApprovals } from "../app/inbox/watch-approvals.ts";
import { getApproval, listApprovals, shownNow } from "../app/read-approvals.ts";

/** Returns the handlers of ApprovalService. */
export function approvalService(ports: ApprovalPorts): ServiceImpl<typeof ApprovalService> {
  const changing = (context: HandlerContext) => ({
    ...ports,
    onAppended: () => reportEffect(context),
  });
  return {
    listApprovals: async (request, context) => {
      const caller = memberOf(context);
      ports.groups.note(caller);
      const page = await listApprovals(ports, caller, request, context.signal);
      return { approvals: [...page.items], nextPageToken: page.nextPageToken };
    },
    countApprovals: (_, context) => {
      const caller = memberOf(context);
      ports.groups.note(caller);
      return countApprovals(ports.lists, caller, context.signal);
    },
    getApproval: async ({ approvalId }, context) => {
      return { approval: await getApproval(ports, memberOf(context), approvalId, context.signal) };
    },
    decideApproval: async (request, context) => {
      const { tenant } = principalOf(context);
      const { signal } = context;
      if (request.grant !== undefined) await assertRoomForGrant(ports, tenant, signal);
      const caller = memberOf(context);
      ports.groups.note(caller);
      const confirmation = await confirmationOf(ports, caller, request, signal);
      const decider = { ...caller, confirmation };
      const approval = await decideApproval(changing(context), decider, request, signal);
      await storeGrant(ports, tenant, approval, signal);
      return { approval: shownNow(ports, caller)(approval) };
    },
    answerQuestion: async (request, context) => {
      const caller = memberOf(context);
      ports.groups.note(caller);
      const approval = await answerQuestion(changing(context), caller, request, context.signal);
      return { approval: shownNow(ports, caller)(approval) };
    },
    decideApprovals: async (request, context) => {
      const caller = memberOf(context);
      ports.groups.note(caller);
      return { results: await decideApprovals(changing(context), caller, request, context.signal) };
    },
    listSimilarDecisions: async ({ approvalId }, context) => {
      const { tenant } = principalOf(context);
      return { decisions: await similarDecisions(ports, tenant, approvalId, context.signal) };
    },
    commentApproval: async (request, context) => {
      const caller = memberOf(context);
      const approval = await commentApproval(changing(context), caller, request, context.signal);
      return { approval: shownNow(ports, caller)(approval) };
    },
    assignApproval: async (request, context) => {
      const caller = memberOf(context);
      const approval = await assignApproval(changing(context), caller, request, context.signal);
      return { approval: shownNow(ports, caller)(approval) };
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
      const caller = memberOf(context);
      ports.groups.note(caller);
      const messages = watchApprovals(ports, caller, request, context.signal);
      for await (const { approvals, resumeToken } of messages) {
        yield { approvals: [...approvals], resumeToken };
      }
    },
  };
}
