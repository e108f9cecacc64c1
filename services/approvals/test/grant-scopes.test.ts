import { ApprovalState, GrantScope } from "@reeve/contracts/approval";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApprovalsBench } from "./support/approvals-bench.ts";
import { openApprovalsBench } from "./support/approvals-bench.ts";

const { APPROVED, PENDING } = ApprovalState;
let bench: ApprovalsBench;

beforeAll(async () => {
  bench = await openApprovalsBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A run of an agent in a thread asks to pay. Returns the id of the approval. */
const asking = (agentId: string, threadId: string) =>
  bench.park({
    agentId,
    threadId,
    call: { callId: "c", name: "pay", arguments: { to: "bob" } },
  });

/** The run of an approval asks to pay once more. */
async function askingAgain(approvalId: string, agentId: string, threadId: string): Promise<string> {
  const runId = approvalId.split("-", 1)[0] ?? "";
  const again = `${runId}-9-0`;
  const call = { callId: "d", name: "pay", arguments: { to: "bob" } };
  const approval = { approvalId: again, runId, state: PENDING, agentId, threadId, call };
  await bench.append(approvalId, { case: "approval", value: { approval } });
  return again;
}

async function lastOf(approvalId: string) {
  const facts = (await bench.eventsOf(approvalId)).flatMap(({ event }) =>
    event.case === "approval" && event.value.approval?.approvalId === approvalId
      ? event.value.approval
      : [],
  );
  return facts.at(-1);
}

/**
 * Makes a grant of a scope with the decision of a first approval, and asks again: in the same run, in another run of the thread, in another
 * thread, and for another agent. Returns the states, once so many are approved, and a grant that was made later has decided an approval that
 * was requested later.
 */
async function statesWith(
  scope: GrantScope,
  approved: number,
  more: { readonly maxUses?: number; readonly expired?: boolean } = {},
) {
  const agentId = `agent-${scope}-${more.maxUses ?? 0}-${more.expired === true}`;
  const threadId = `thread-${agentId}`;
  const [ann, others] = bench.as("ann");
  const first = await asking(agentId, threadId);
  const { maxUses = 0, expired = false } = more;
  const grant = {
    scope,
    rule: "pay(bob)",
    maxUses,
    ...(expired && { lifetime: { nanos: 1 } }),
  };
  await ann.decideApproval({ approvalId: first, approved: true, grant });
  const asked = [
    await askingAgain(first, agentId, threadId),
    await asking(agentId, threadId),
    await asking(agentId, `other-${threadId}`),
    await asking(`other-${agentId}`, threadId),
  ];
  const fence = `fence-${agentId}`;
  const known = await asking(fence, "");
  const forFence = { scope: GrantScope.AGENT, rule: "pay" };
  await others.decideApproval({ approvalId: known, approved: true, grant: forFence });
  const last = await asking(fence, "");
  await expect.poll(async () => (await lastOf(last))?.state, { timeout: 20_000 }).toBe(APPROVED);
  const states = () => Promise.all(asked.map(async (id) => (await lastOf(id))?.state));
  // Another process may have taken the use, and decide with it a moment later.
  await expect
    .poll(async () => (await states()).filter((state) => state === APPROVED).length, {
      timeout: 20_000,
    })
    .toBe(approved);
  return {
    states: await states(),
    uses: (await others.listGrants({ agentId })).grants[0]?.uses.length,
    decided: await Promise.all(asked.map(async (id) => (await lastOf(id))?.decision)),
  };
}

// Requirement: RES-10
test.each([
  ["run", GrantScope.RUN, [APPROVED, PENDING, PENDING, PENDING]],
  ["thread", GrantScope.THREAD, [APPROVED, APPROVED, PENDING, PENDING]],
  ["agent", GrantScope.AGENT, [APPROVED, APPROVED, APPROVED, PENDING]],
] as const)(
  "a grant for the %s decides the calls of its scope, and no others",
  async (_, scope, states) => {
    const approved = states.filter((state) => state === APPROVED).length;
    const found = await statesWith(scope, approved);
    expect(found.states).toEqual(states);
    expect(found.uses).toBe(approved);
    for (const decision of found.decided.filter((each) => each !== undefined)) {
      expect(decision).toMatchObject({
        decidedBy: "ann",
        appliedGrant: { scope, rule: "pay(bob)" },
      });
    }
  },
);

test("a decision without a grant is about one call", async () => {
  const [ann] = bench.as("ann");
  const first = await asking("single", "single");
  await ann.decideApproval({ approvalId: first, approved: true });
  const again = await askingAgain(first, "single", "single");
  expect((await ann.listGrants({ agentId: "single" })).grants).toEqual([]);
  expect((await lastOf(again))?.state).toBe(PENDING);
});

test.each([
  ["run", GrantScope.RUN],
  ["thread", GrantScope.THREAD],
  ["agent", GrantScope.AGENT],
] as const)(
  "a grant for the %s decides as many calls as it says, and none after it has expired",
  async (_, scope) => {
    const once = await statesWith(scope, 1, { maxUses: 1 });
    expect(once.states.filter((state) => state === APPROVED)).toHaveLength(1);
    expect(once.uses).toBe(1);
    const expired = await statesWith(scope, 0, { expired: true });
    expect(expired.states).toEqual([PENDING, PENDING, PENDING, PENDING]);
  },
);
