import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval, ApprovalFilter } from "@reeve/contracts/approval";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import { waitsFor } from "@reeve/run/approvals/votes/standing";

/** Whether an approval is selected. */
export type Matches = (approval: Approval) => boolean;

/** Returns what selects the approvals that match a filter, for a caller. */
export function matching(filter: ApprovalFilter, caller: Decider): Matches {
  const { agentId, tool, threadId, requestedBy, person, group, requestedAfter, requestedBefore } =
    filter;
  const { assignee } = filter;
  const states = new Set(filter.states);
  const text = filter.text.toLowerCase();
  const afterMs = requestedAfter === undefined ? -Infinity : timestampMs(requestedAfter);
  const beforeMs = requestedBefore === undefined ? Infinity : timestampMs(requestedBefore);
  return (approval) => {
    const requestedMs = approval.requestedAt === undefined ? 0 : timestampMs(approval.requestedAt);
    return (
      (states.size === 0 || states.has(approval.state)) &&
      (agentId === "" || approval.agentId === agentId) &&
      (tool === "" || approval.call?.name === tool) &&
      (threadId === "" || approval.threadId === threadId) &&
      (assignee === "" || approval.assignment?.assignee === assignee) &&
      (requestedBy === "" || approval.requestedBy === requestedBy) &&
      requestedMs >= afterMs &&
      requestedMs < beforeMs &&
      (!filter.forMe || waitsFor(approval, caller)) &&
      (person === "" || approval.alternatives.some(({ people }) => people.includes(person))) &&
      (group === "" || approval.alternatives.some(({ groups }) => groups.includes(group))) &&
      (text === "" || hasText(approval, text))
    );
  };
}

/** Whether an approval has a text in lower case in what a person decides on. */
function hasText({ call, question }: Approval, text: string): boolean {
  const parts = [
    call?.name ?? "",
    call?.arguments === undefined ? (call?.rawArguments ?? "") : JSON.stringify(call.arguments),
    question?.message ?? "",
  ];
  return parts.some((part) => part.toLowerCase().includes(text));
}
