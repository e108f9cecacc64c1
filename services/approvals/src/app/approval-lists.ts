import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { ListView } from "@reeve/jetstream/table/list-view";
import type { Table } from "@reeve/jetstream/table/port";

/** What a list of approvals is chosen by. */
export type ApprovalFacet = Readonly<Pick<Approval, "runId" | "state">>;

/** Lists of approvals, oldest first, from the inbox. */
export type ApprovalLists = ListView<typeof ApprovalSchema, ApprovalFacet>;

/** Lists of the approvals in an inbox, until `signal` aborts. */
export function openApprovalLists(inbox: Table<Approval>, signal: AbortSignal): ApprovalLists {
  return new ListView(inbox, ApprovalSchema, { facetOf, orderOf, direction: "ascending" }, signal);
}

function facetOf({ runId, state }: Approval): ApprovalFacet {
  return { runId, state };
}

function orderOf({ requestedAt, approvalId }: Approval): string {
  const ms = requestedAt === undefined ? 0 : timestampMs(requestedAt);
  return `${String(ms).padStart(15, "0")}.${approvalId}`;
}
