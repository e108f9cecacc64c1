import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { IndexDefinition } from "@reeve/jetstream/local-index/indexed-rows";
import type { IndexHome } from "@reeve/jetstream/local-index/table-index";
import { TableIndex } from "@reeve/jetstream/local-index/table-index";
import type { Table } from "@reeve/jetstream/table/port";

/** Filtered lists of the approvals in the inbox, oldest first. */
export type ApprovalLists = TableIndex<typeof ApprovalSchema, "run_id">;

const definition: IndexDefinition<Approval, "run_id"> = {
  name: "approvals",
  version: 1,
  orderOf: ({ requestedAt, approvalId }) => {
    const ms = requestedAt === undefined ? 0 : timestampMs(requestedAt);
    return `${String(ms).padStart(15, "0")}.${approvalId}`;
  },
  direction: "ascending",
  kindOf: ({ state }) => state,
  kinds: [ApprovalState.PENDING],
  fields: { run_id: ({ runId }) => runId },
};

/** Opens the lists of an inbox. They follow the inbox until `signal` aborts. */
export function openApprovalLists(
  inbox: Table<Approval>,
  home: IndexHome,
  signal: AbortSignal,
): ApprovalLists {
  return new TableIndex(inbox, { ...home, schema: ApprovalSchema, definition }, signal);
}
