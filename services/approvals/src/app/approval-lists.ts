import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { ListView } from "@reeve/jetstream/table/list-view";
import type { Table } from "@reeve/jetstream/table/port";

/** The fields by which lists of approvals are filtered. */
export type ApprovalFacet = Readonly<Pick<Approval, "runId" | "state">>;

/** Filtered lists of the approvals in the inbox, oldest first. */
export type ApprovalLists = ListView<typeof ApprovalSchema, ApprovalFacet>;

/** Opens the lists of an inbox. They follow the inbox until `signal` aborts. */
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
