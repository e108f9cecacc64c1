import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import {
  ApprovalSchema,
  ApprovalState,
  ListApprovalsRequestSchema,
} from "@reeve/contracts/approval";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import { openApprovalLists } from "../../src/app/approval-lists.ts";
import { withoutGroupWatch } from "../../src/app/groups/watched-groups.ts";
import { listApprovals } from "../../src/app/read-approvals.ts";
import { noon } from "./parked-run.ts";

const never = new AbortController().signal;

type ApprovalInit = Exclude<
  MessageInitShape<typeof ApprovalSchema>,
  { readonly $typeName: string }
>;
type ListInit = Exclude<
  MessageInitShape<typeof ListApprovalsRequestSchema>,
  { readonly $typeName: string }
>;

/** A person with the role APPROVER. */
export const approver = (subject: string, ...groups: readonly string[]): Decider => ({
  tenant: "acme",
  subject,
  groups: new Set(["role:approver", ...groups]),
});

/** A pending approval with this number, requested so many seconds after noon. */
export function numbered(number: number, more: ApprovalInit = {}): Approval {
  const runId = more.runId ?? "run_aaaaaaaa";
  return create(ApprovalSchema, {
    approvalId: `${runId}-3-${number}`,
    runId,
    state: ApprovalState.PENDING,
    requestedAt: timestampFromMs(noon + number * 1_000),
    ...more,
  });
}

/** Opens the lists of a new inbox of `acme` with these approvals. */
export function openLists(...approvals: readonly Approval[]) {
  return openListsOf(new MemoryTable<Approval>(), approvals);
}

/** Opens the lists of an inbox, into which these approvals of `acme` are put. */
export async function openListsOf(inbox: MemoryTable<Approval>, approvals: readonly Approval[]) {
  for (const approval of approvals) await inbox.put(`acme.${approval.approvalId}`, approval, never);
  const home = { folder: undefined, log: createLogger("test", "silent") };
  const lists = openApprovalLists(inbox, home, never);
  const ports = {
    inbox,
    lists,
    clock: new ManualClock(noon),
    times: () => undefined,
    groups: withoutGroupWatch,
  };
  return {
    ...ports,
    /** Returns the last parts of the ids of one page, and the token of the next one. */
    async page(request: ListInit, caller: Decider = approver("ada")) {
      const wanted = create(ListApprovalsRequestSchema, request);
      const { items, nextPageToken } = await listApprovals(ports, caller, wanted, never);
      return { numbers: items.map(numberOf), nextPageToken };
    },
  };
}

/** Returns the number of an approval. */
export function numberOf({ approvalId }: Approval): number {
  return Number(approvalId.split("-").at(-1));
}
