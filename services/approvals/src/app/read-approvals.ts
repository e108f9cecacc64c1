import { create } from "@bufbuild/protobuf";
import type { Approval, ListApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalFilterSchema, ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import type { Page } from "@reeve/jetstream/table/page";
import { approvalNotFound, runOfApproval } from "@reeve/run/approvals/approval-id";
import { decisionTime, withTimes } from "@reeve/run/approvals/times/decidable";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import { standingOf } from "@reeve/run/approvals/votes/standing";
import { agentToolOf, orderAt } from "./approval-lists.ts";
import type { ApprovalPorts } from "./approval-ports.ts";
import { matching } from "./inbox/approval-filter.ts";
import type { Searched } from "./inbox/search-approvals.ts";
import { searchPage } from "./inbox/search-approvals.ts";

const { key: approvalKey } = bucketOf(ApprovalSchema);

export type ReadPorts = Pick<ApprovalPorts, "inbox" | "lists" | "clock" | "times" | "groups">;

/** Returns an approval from the inbox, with its times. Throws a Failure of kind `not_found` if it does not exist. */
export async function getApproval(
  ports: Pick<ReadPorts, "inbox" | "clock" | "times" | "groups">,
  caller: Decider,
  approvalId: string,
  signal: AbortSignal,
): Promise<Approval> {
  runOfApproval(approvalId);
  const { tenant } = caller;
  const row = await ports.inbox.get(approvalKey({ tenant, approval: approvalId }), signal);
  if (row === undefined) throw approvalNotFound(approvalId);
  return shownNow(ports, caller)(row.record);
}

/** Returns a page of the approvals of the caller's tenant, oldest first, with their times. */
export async function listApprovals(
  ports: Pick<ReadPorts, "lists" | "clock" | "times" | "groups">,
  caller: Decider,
  request: ListApprovalsRequest,
  signal: AbortSignal,
): Promise<Page<Approval>> {
  const { tenant } = caller;
  const searched = searchedOf(caller, request);
  const page = await ports.lists.read(
    tenant,
    (rows) => searchPage(rows, searched, request),
    signal,
  );
  return { ...page, items: page.items.map(shownNow(ports, caller)) };
}

/** Returns the part of the index that has the approvals of a request. */
export function searchedOf(
  caller: Decider,
  { filter = create(ApprovalFilterSchema), runId, includeClosed }: ListApprovalsRequest,
): Searched {
  const { states, agentId, tool, threadId, requestedBy, requestedAfter, requestedBefore } = filter;
  const kinds = states.length > 0 ? states : includeClosed ? undefined : [ApprovalState.PENDING];
  // Only the first, which has the fewest approvals: those that another one excludes count as searched.
  const [field] = [
    runId !== "" && { run_id: runId },
    threadId !== "" && { thread_id: threadId },
    agentId !== "" && tool !== "" && { agent_tool: agentToolOf(agentId, tool) },
    requestedBy !== "" && { requested_by: requestedBy },
    tool !== "" && { tool },
    agentId !== "" && { agent_id: agentId },
  ].filter((each) => each !== false);
  return {
    selection: {
      tenant: caller.tenant,
      ...(field && { fields: field }),
      ...(kinds && { kinds }),
    },
    ...(requestedAfter && { after: orderAt(requestedAfter) }),
    ...(requestedBefore && { before: orderAt(requestedBefore) }),
    matches: matching(filter, caller),
  };
}

/**
 * Returns a function that adds to an approval the times that apply to it now, the groups of which nobody uses the inbox, and whether the
 * caller may decide.
 */
export function shownNow(
  { clock, times, groups }: Pick<ApprovalPorts, "clock" | "times" | "groups">,
  caller: Decider,
): (approval: Approval) => Approval {
  const { tenant } = caller;
  const now = decisionTime({ tenant, times: times() }, clock.now());
  const unseenGroupsOf = groups.unseenIn(tenant);
  return (approval) => {
    const unseenGroups = unseenGroupsOf(approval);
    const callerStanding = standingOf(approval, caller);
    const timed = withTimes(approval, now);
    if (unseenGroups.length === 0 && callerStanding === undefined) return timed;
    return create(ApprovalSchema, {
      ...timed,
      unseenGroups: [...unseenGroups],
      ...(callerStanding && { callerStanding }),
    });
  };
}
