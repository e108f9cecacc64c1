import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/followed-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Table } from "@reeve/jetstream/table/port";
import { talliesOf } from "./inbox/approval-tallies.ts";

/** What lists of approvals are read by. */
export type ApprovalField =
  | "run_id"
  | "thread_id"
  | "agent_tool"
  | "requested_by"
  | "tool"
  | "agent_id";

/** Filtered lists of the approvals in the inbox, oldest first. */
export type ApprovalLists = TableIndex<typeof ApprovalSchema, ApprovalField>;

/** Returns the value of the field `agent_tool`. Ids of agents have no line feed. */
export function agentToolOf(agentId: string, tool: string): string {
  return `${agentId}\n${tool}`;
}

/** Returns the place of a time in the order of lists: before the approvals that were requested then. */
export function orderAt(time: Timestamp | undefined): string {
  // Of a time before 1970, nothing is left but the start.
  const ms = time === undefined ? 0 : Math.max(timestampMs(time), 0);
  return String(ms).padStart(15, "0");
}

const definition: IndexDefinition<Approval, ApprovalField> = {
  name: "approvals",
  version: 3,
  orderOf: ({ requestedAt, approvalId }) => `${orderAt(requestedAt)}.${approvalId}`,
  direction: "ascending",
  kindOf: ({ state }) => state,
  kinds: Object.values(ApprovalState).filter((state) => typeof state === "number"),
  fields: {
    run_id: ({ runId }) => runId,
    thread_id: ({ threadId }) => threadId,
    agent_tool: ({ agentId, call }) => agentToolOf(agentId, call?.name ?? ""),
    requested_by: ({ requestedBy }) => requestedBy,
    tool: ({ call }) => call?.name ?? "",
    agent_id: ({ agentId }) => agentId,
  },
};

/** Opens the lists of an inbox. They follow the inbox until `signal` aborts. */
export function openApprovalLists(
  inbox: Table<Approval>,
  home: IndexHome,
  signal: AbortSignal,
): ApprovalLists {
  const content = { schema: ApprovalSchema, definition, talliesOf, isFollowed: true };
  return new TableIndex(inbox, { ...home, ...content }, signal);
}
