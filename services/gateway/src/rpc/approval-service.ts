import { create } from "@bufbuild/protobuf";
import type { Client, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ApprovalService, ListApprovalsRequest } from "@reeve/contracts/approval";
import { CountApprovalsResponseSchema } from "@reeve/contracts/approval";
import { noteEffect, reportsEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { carriesGroups, principalHeaders } from "@reeve/platform/rpc/internal-principal";
import type { Principal } from "@reeve/platform/rpc/principal";
import { memberOf, principalOf } from "@reeve/platform/rpc/principal";
import { forwarded } from "./forwarded.ts";

/** A request that may depend on the groups of the caller. */
type Selecting = Pick<ListApprovalsRequest, "filter">;

/** Returns the handlers of ApprovalService: they forward each call to approvals, with the authenticated principal. */
export function approvalService(
  approvals: Client<typeof ApprovalService>,
  internalToken: string | undefined,
): ServiceImpl<typeof ApprovalService> {
  const withHeaders = (principal: Principal, { signal }: HandlerContext) => ({
    headers: principalHeaders(principal, internalToken),
    signal,
  });
  const as = (context: HandlerContext) => withHeaders(principalOf(context), context);
  const changing = (principal: Principal, context: HandlerContext) => ({
    ...withHeaders(principal, context),
    onHeader: (header: Headers) => {
      if (reportsEffect(header)) noteEffect(context);
    },
  });
  const asMember = (context: HandlerContext) => withHeaders(memberOf(context), context);
  // A credential with more groups than a call carries can still read everything, but not whether it may decide.
  const asReader = (context: HandlerContext) =>
    carriesGroups(memberOf(context).groups) ? asMember(context) : as(context);
  const asSelecting = ({ filter }: Selecting, context: HandlerContext) =>
    filter?.forMe === true ? asMember(context) : asReader(context);
  return {
    listApprovals: (request, context) =>
      forwarded(approvals.listApprovals(request, asSelecting(request, context))),
    countApprovals: async (request, context) => {
      // Only one of the numbers depends on the groups.
      if (carriesGroups(memberOf(context).groups)) {
        return await forwarded(approvals.countApprovals(request, asMember(context)));
      }
      const counts = await forwarded(approvals.countApprovals(request, as(context)));
      return create(CountApprovalsResponseSchema, { ...counts, waitingForMe: undefined });
    },
    getApproval: (request, context) => forwarded(approvals.getApproval(request, asReader(context))),
    // Only decisions and answers depend on the groups.
    decideApproval: (request, context) =>
      forwarded(approvals.decideApproval(request, changing(memberOf(context), context))),
    decideApprovals: (request, context) =>
      forwarded(approvals.decideApprovals(request, changing(memberOf(context), context))),
    answerQuestion: (request, context) =>
      forwarded(approvals.answerQuestion(request, changing(memberOf(context), context))),
    listSimilarDecisions: (request, context) =>
      forwarded(approvals.listSimilarDecisions(request, as(context))),
    commentApproval: (request, context) =>
      forwarded(approvals.commentApproval(request, changing(principalOf(context), context))),
    assignApproval: (request, context) =>
      forwarded(approvals.assignApproval(request, changing(principalOf(context), context))),
    listGrants: (request, context) => forwarded(approvals.listGrants(request, as(context))),
    revokeGrant: (request, context) =>
      forwarded(approvals.revokeGrant(request, changing(principalOf(context), context))),
    async *watchApprovals(request, context) {
      try {
        yield* approvals.watchApprovals(request, asSelecting(request, context));
      } catch (error) {
        throw failureFrom(error);
      }
    },
  };
}
