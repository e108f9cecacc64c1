import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Approval, CountApprovalsResponse, NamedCountSchema } from "@reeve/contracts/approval";
import { ApprovalState, CountApprovalsResponseSchema } from "@reeve/contracts/approval";
import type { IndexedRows } from "@reeve/jetstream/local-index/indexed-rows";
import type { Clock } from "@reeve/platform/async/clock";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import type { ApprovalField, ApprovalLists } from "../approval-lists.ts";
import { openTo } from "../approval-lists.ts";
import { isApprover, isForCaller } from "./approval-filter.ts";
import { searchCount } from "./search-approvals.ts";

/** How many approvals are counted at most, and how many agents and tools are returned. */
const limits = { records: 100_000, values: 100 };

/** From how many approvals on counts of a tenant are kept, for how long, and of how many tenants. */
const kept = { fromRecords: 5_000, ms: 5_000, tenants: 100 };

type Rows = IndexedRows<Approval, ApprovalField>;

/** The numbers that are the same for all people of a tenant. */
interface SharedCounts {
  readonly countedAtMs: number;
  readonly states: ReturnType<typeof stateCounts>;
  readonly agents: MessageInitShape<typeof NamedCountSchema>[];
  readonly tools: MessageInitShape<typeof NamedCountSchema>[];
  /** The pending approvals that everyone with the role may decide. */
  readonly open: ReturnType<typeof countOf>;
}

/**
 * Counts approvals, from the index alone. Each number ends at a limit, and says so. The numbers of a large tenant are counted every
 * five seconds at most, however many people ask.
 */
export class ApprovalCounts {
  readonly #lists: ApprovalLists;
  readonly #clock: Pick<Clock, "now">;
  readonly #kept = new Map<string, SharedCounts>();

  constructor({
    lists,
    clock,
  }: {
    readonly lists: ApprovalLists;
    readonly clock: Pick<Clock, "now">;
  }) {
    this.#lists = lists;
    this.#clock = clock;
  }

  /** Counts the approvals of the caller's tenant. */
  async of(caller: Decider, signal: AbortSignal): Promise<CountApprovalsResponse> {
    const { tenant } = caller;
    return await this.#lists.read(
      tenant,
      (rows) => {
        const { states, agents, tools, open } = this.#shared(rows, tenant);
        const waitingForMe = waitingFor(rows, caller, open);
        return create(CountApprovalsResponseSchema, { states, agents, tools, waitingForMe });
      },
      signal,
    );
  }

  #shared(rows: Rows, tenant: string): SharedCounts {
    const nowMs = this.#clock.now();
    const known = this.#kept.get(tenant);
    // A clock that was set back keeps nothing.
    if (known && nowMs >= known.countedAtMs && nowMs < known.countedAtMs + kept.ms) return known;
    const counted = sharedCounts(rows, tenant, nowMs);
    this.#kept.delete(tenant);
    if (counted.states.some(({ count }) => count.count >= kept.fromRecords)) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined && this.#kept.size >= kept.tenants) this.#kept.delete(oldest);
      this.#kept.set(tenant, counted);
    }
    return counted;
  }
}

function sharedCounts(rows: Rows, tenant: string, countedAtMs: number): SharedCounts {
  const open = { tenant, kinds: [ApprovalState.PENDING], fields: { open_to: openTo.everyone } };
  return {
    countedAtMs,
    states: stateCounts(rows, tenant),
    agents: namedCounts(rows, tenant, "agent_id"),
    tools: namedCounts(rows, tenant, "tool"),
    open: countOf(rows.count(open, limits.records)),
  };
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
function waitingFor(rows: Rows, caller: Decider, open: SharedCounts["open"]) {
  if (!isApprover(caller)) return { count: 0, isPartial: false };
  const kinds = [ApprovalState.PENDING];
  const named = searchCount(rows, {
    selection: { tenant: caller.tenant, kinds, fields: { open_to: openTo.some } },
    matches: (approval) => isForCaller(approval, caller),
  });
  return { count: open.count + named.count, isPartial: open.isPartial || named.isPartial };
}

function countOf(count: number) {
  return { count, isPartial: count >= limits.records };
}
