import type { CountApprovalsResponse } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { approver, numbered, openLists } from "../../../test/support/listed-approvals.ts";
import { ApprovalCounts } from "./count-approvals.ts";

const never = new AbortController().signal;
const { APPROVED, PENDING } = ApprovalState;

function shown({ states, agents, tools, waitingForMe }: CountApprovalsResponse) {
  const named = (counts: typeof agents) => counts.map(({ name, count }) => [name, count?.count]);
  return {
    states: states.map(({ state, count }) => [state, count?.count]),
    agents: named(agents),
    tools: named(tools),
    mine: waitingForMe?.count,
    isPartial: waitingForMe?.isPartial,
  };
}

test("counts approvals by state, and the pending ones by agent, tool, and for the caller", async () => {
  const two = [{ name: "two", people: ["eve"], approvals: 2, denials: 1 }];
  const lists = await openLists(
    numbered(1, { agentId: "payer", call: { name: "pay" } }),
    numbered(2, { agentId: "payer", call: { name: "refund" }, alternatives: two }),
    numbered(3, { agentId: "writer", call: { name: "pay" }, excludedSubjects: ["ada"] }),
    numbered(4, { agentId: "writer", state: APPROVED, call: { name: "pay" } }),
  );
  const counts = {
    states: [
      [PENDING, 3],
      [APPROVED, 1],
    ],
    agents: [
      ["payer", 2],
      ["writer", 1],
    ],
    tools: [
      ["pay", 2],
      ["refund", 1],
    ],
    isPartial: false,
  };
  const counted = new ApprovalCounts(lists);
  const of = async (subject: string) => shown(await counted.of(approver(subject), never));
  expect(await of("ada")).toEqual({ ...counts, mine: 1 });
  expect(await of("eve")).toEqual({ ...counts, mine: 3 });
  const viewer = { tenant: "acme", subject: "ada" };
  expect(shown(await counted.of(viewer, never))).toEqual({ ...counts, mine: 0 });
});

test("the approvals of other tenants do not count", async () => {
  const lists = await openLists(numbered(1));
  const stranger = { ...approver("ada"), tenant: "globex" };
  expect(shown(await new ApprovalCounts(lists).of(stranger, never))).toEqual({
    states: [],
    agents: [],
    tools: [],
    mine: 0,
    isPartial: false,
  });
});

test("a count of approvals that name people ends after 1,000 of them, and says so", async () => {
  const named = [{ name: "two", people: ["ada"], approvals: 2, denials: 1 }];
  const many = Array.from({ length: 1_001 }, (_, index) =>
    numbered(index, { alternatives: named }),
  );
  const lists = await openLists(...many);
  const { waitingForMe } = await new ApprovalCounts(lists).of(approver("ada"), never);
  expect(waitingForMe).toMatchObject({ count: 1_000, isPartial: true });
});

test("the numbers of a large tenant are kept for five seconds, and those of a small one are not", async () => {
  const large = await openLists(...Array.from({ length: 5_000 }, (_, index) => numbered(index)));
  const small = await openLists(numbered(1));
  for (const [lists, before, kept, after] of [
    [large, 5_000, 5_000, 5_001],
    [small, 1, 2, 2],
  ] as const) {
    const counts = new ApprovalCounts(lists);
    const mine = async () => (await counts.of(approver("ada"), never)).waitingForMe?.count;
    expect(await mine()).toBe(before);
    await lists.inbox.put("acme.run_bbbbbbbb-3-1", numbered(1, { runId: "run_bbbbbbbb" }), never);
    expect(await mine()).toBe(kept);
    await lists.clock.advance(5_000);
    expect(await mine()).toBe(after);
  }
});
