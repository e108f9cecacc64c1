import type { CountApprovalsResponse } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { approver, numbered, openLists } from "../../../test/support/listed-approvals.ts";
import type { Tallies } from "@reeve/jetstream/local-index/tallies";
import { countApprovals } from "./count-approvals.ts";

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
  const of = async (subject: string) =>
    shown(await countApprovals(lists.lists, approver(subject), never));
  expect(await of("ada")).toEqual({ ...counts, mine: 1 });
  expect(await of("eve")).toEqual({ ...counts, mine: 3 });
  const viewer = { tenant: "acme", subject: "ada" };
  expect(shown(await countApprovals(lists.lists, viewer, never))).toEqual({ ...counts, mine: 0 });
});

test("the approvals of other tenants do not count", async () => {
  const lists = await openLists(numbered(1));
  const stranger = { ...approver("ada"), tenant: "globex" };
  expect(shown(await countApprovals(lists.lists, stranger, never))).toEqual({
    states: [],
    agents: [],
    tools: [],
    mine: 0,
    isPartial: false,
  });
});

test("votes, decisions, and escalations change the numbers", async () => {
  const lists = await openLists(numbered(1), numbered(2), numbered(3));
  const mine = async (subject: string, ...groups: readonly string[]) =>
    (await countApprovals(lists.lists, approver(subject, ...groups), never)).waitingForMe?.count;
  const put = async (number: number, more: Parameters<typeof numbered>[1]) =>
    void (await lists.inbox.put(`acme.run_aaaaaaaa-3-${number}`, numbered(number, more), never));
  expect(await mine("ada")).toBe(3);
  const two = { name: "two", people: ["ada", "eve"], approvals: 2, denials: 1 };
  const vote = { decision: { decidedBy: "ada", approved: true } };
  await put(1, { revision: 1, alternatives: [two], votes: [vote] });
  await put(2, { state: APPROVED });
  expect([await mine("ada"), await mine("eve"), await mine("bob")]).toEqual([1, 2, 1]);
  const lead = { name: "lead", groups: ["leads"], approvals: 1, denials: 1 };
  await put(1, { revision: 2, alternatives: [two, lead], votes: [vote] });
  expect(await mine("bob", "leads")).toBe(2);
  await lists.inbox.delete("acme.run_aaaaaaaa-3-3", never);
  expect([await mine("ada"), await mine("eve")]).toEqual([0, 1]);
});

test("an approval that names very many people is not counted for them, and the count says that there may be more", async () => {
  const people = Array.from({ length: 100 }, (_, index) => `${index}-${"x".repeat(60)}`);
  const alternatives = [{ name: "many", people, approvals: 1, denials: 1 }];
  const lists = await openLists(numbered(1), numbered(2, { alternatives }));
  const { states, waitingForMe } = await countApprovals(lists.lists, approver("ada"), never);
  expect(states[0]?.count?.count).toBe(2);
  expect(waitingForMe).toMatchObject({ count: 1, isPartial: true });
});

test("a count reads as many numbers as there are agents, tools, and sets of deciders, not approvals", async () => {
  const sets = [[], ["finance"], ["security", "legal"]];
  const approvals = Array.from({ length: 600 }, (_, index) => {
    const groups = sets[index % 3] ?? [];
    return numbered(index, {
      agentId: `agent-${index % 2}`,
      call: { name: "pay" },
      excludedSubjects: [`requester-${index}`],
      alternatives: groups.length === 0 ? [] : [{ name: "a", groups, approvals: 1, denials: 1 }],
    });
  });
  const lists = await openLists(...approvals);
  let read = 0;
  const counting = (tallies: Pick<Tallies, "largest" | "count">) => ({
    largest: (...given: Parameters<Tallies["largest"]>) => {
      const values = tallies.largest(...given);
      read += values.length;
      return values;
    },
    count: (...given: Parameters<Tallies["count"]>) => {
      read++;
      return tallies.count(...given);
    },
  });
  const { waitingForMe } = await countApprovals(
    {
      read: (tenant, counted, signal) =>
        lists.lists.read(
          tenant,
          (rows, index) => counted(rows, { tallies: index.tallies && counting(index.tallies) }),
          signal,
        ),
    },
    approver("requester-1", "finance"),
    never,
  );
  // Everyone may decide a third, and finance a third, of which this person requested one.
  expect(waitingForMe?.count).toBe(399);
  const [states, agents, tools, deciders, blocked, uncounted] = [6, 2, 1, 3, 2, 1];
  expect(read).toBe(states + agents + tools + deciders + blocked + uncounted);
});
