import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Approval, CountApprovalsResponse, NamedCountSchema } from "@reeve/contracts/approval";
import { ApprovalState, CountApprovalsResponseSchema } from "@reeve/contracts/approval";
import type { IndexedRows } from "@reeve/jetstream/local-index/indexed-rows";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import type { ApprovalField, ApprovalLists } from "../approval-lists.ts";
import { openTo } from "../approval-lists.ts";
import { isApprover, isForCaller } from "./approval-filter.ts";
import { searchCount } from "./search-approvals.ts";

/** How many approvals are counted at most, and how many agents and tools are returned. */
const limits = { records: 100_000, values: 100 };

type Rows = IndexedRows<Approval, ApprovalField>;

/** Counts the approvals of the caller's tenant, from the index alone. Each number ends at a limit, and says so. */
export async function countApprovals(
  { lists }: { readonly lists: ApprovalLists },
  caller: Decider,
  signal: AbortSignal,
): Promise<CountApprovalsResponse> {
  const { tenant } = caller;
  return await lists.read(
    tenant,
    (rows) =>
      create(CountApprovalsResponseSchema, {
        states: stateCounts(rows, tenant),
        agents: namedCounts(rows, tenant, "agent_id"),
        tools: namedCounts(rows, tenant, "tool"),
        waitingForMe: waitingFor(rows, caller),
      }),
    signal,
  );
}

function stateCounts(rows: Rows, tenant: string) {
  return Object.values(ApprovalState)
    .filter((state) => typeof state === "number" && state !== ApprovalState.UNSPECIFIED)
    .map((state) => ({
      state,
      count: countOf(rows.count({ tenant, kinds: [state] }, limits.records)),
    }))
    .filter(({ count }) => count.count > 0);
}

function namedCounts(
  rows: Rows,
  tenant: string,
  field: "agent_id" | "tool",
): MessageInitShape<typeof NamedCountSchema>[] {
  const kind = ApprovalState.PENDING;
  // Without the approvals beyond the limit, the number of each value may be too low.
  const { isPartial } = countOf(rows.count({ tenant, kinds: [kind] }, limits.records));
  return rows
    .countBy({ tenant, kind, field }, limits)
    .map(({ value, count }) => ({ name: value, count: { count, isPartial } }));
}

/** Approvals that everyone with the role may decide are counted in the index; the others are searched. */
function waitingFor(rows: Rows, caller: Decider) {
  if (!isApprover(caller)) return { count: 0, isPartial: false };
  const { tenant } = caller;
  const kinds = [ApprovalState.PENDING];
  const open = countOf(
    rows.count({ tenant, kinds, fields: { open_to: openTo.everyone } }, limits.records),
  );
  const named = searchCount(rows, {
    selection: { tenant, kinds, fields: { open_to: openTo.some } },
    matches: (approval) => isForCaller(approval, caller),
  });
  return { count: open.count + named.count, isPartial: open.isPartial || named.isPartial };
}

function countOf(count: number) {
  return { count, isPartial: count >= limits.records };
}
