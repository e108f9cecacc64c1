import { create } from "@bufbuild/protobuf";
import type { CountApprovalsResponse } from "@reeve/contracts/approval";
import { ApprovalState, CountApprovalsResponseSchema } from "@reeve/contracts/approval";
import type { Tallies } from "@reeve/jetstream/local-index/tallies";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import { isApprover, isDecider } from "@reeve/run/approvals/votes/may-decide";
import { knowsMemberships } from "@reeve/run/approvals/votes/standing";
import { decidersOf, subjectValue, tallyNames } from "./approval-tallies.ts";

/** How many agents and tools are returned, and how many different sets of deciders are looked at. */
const limits = { values: 100, deciders: 1_000 };

type Kept = Pick<Tallies, "largest" | "count">;

/** Lists with the numbers that their index keeps. */
export interface CountedLists {
  read<Result>(
    tenant: string,
    read: (rows: unknown, index: { readonly tallies: Kept | undefined }) => Result,
    signal: AbortSignal,
  ): Promise<Result>;
}

/**
 * Counts the approvals of the caller's tenant by numbers that the index keeps: the cost depends on how many agents, tools, and
 * different sets of deciders there are, not on how many approvals.
 */
export async function countApprovals(
  lists: CountedLists,
  caller: Decider,
  signal: AbortSignal,
): Promise<CountApprovalsResponse> {
  const { tenant } = caller;
  return await lists.read(
    tenant,
    (_, { tallies }) => {
      if (tallies === undefined) throw new Error("the index of approvals keeps no numbers");
      const named = (name: string) =>
        tallies
          .largest({ tenant, name }, limits.values)
          .map(({ value, count }) => ({ name: value, count: { count } }));
      return create(CountApprovalsResponseSchema, {
        states: stateCounts(tallies, tenant),
        agents: named(tallyNames.agent),
        tools: named(tallyNames.tool),
        waitingForMe: waitingFor(tallies, caller),
      });
    },
    signal,
  );
}

function stateCounts(tallies: Kept, tenant: string) {
  return Object.values(ApprovalState)
    .filter((state) => typeof state === "number")
    .filter((state) => state !== ApprovalState.UNSPECIFIED)
    .map((state) => ({ state, count: countOfState(tallies, tenant, state) }))
    .filter(({ count }) => count.count > 0);
}

function countOfState(tallies: Kept, tenant: string, state: ApprovalState) {
  return { count: tallies.count({ tenant, name: tallyNames.state }, String(state)) };
}

/**
 * The approvals with deciders that name the caller, without those that the caller is excluded from or has voted on. Of these, a caller
 * without the role APPROVER has only the questions of agents in runs that the caller started.
 */
function waitingFor(tallies: Kept, caller: Decider) {
  if (!knowsMemberships(caller)) return { count: 0, isPartial: false };
  const { tenant, subject } = caller;
  const { deciders, blocked, asked, uncounted } = tallyNames;
  const sets = tallies.largest({ tenant, name: deciders }, limits.deciders + 1);
  const counts = sets.slice(0, limits.deciders).map(({ value, count }) => {
    const alternatives = decidersOf(value);
    const isNamed =
      alternatives.length === 0 || alternatives.some((each) => isDecider(each, caller));
    if (!isNamed) return 0;
    const own = subjectValue(value, subject);
    return isApprover(caller)
      ? count - tallies.count({ tenant, name: blocked }, own)
      : tallies.count({ tenant, name: asked }, own);
  });
  return {
    count: counts.reduce((sum, count) => sum + count, 0),
    isPartial: sets.length > limits.deciders || tallies.count({ tenant, name: uncounted }, "") > 0,
  };
}
