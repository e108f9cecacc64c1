import { ApprovalState } from "@reeve/contracts/approval";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ApprovalsBench } from "./support/approvals-bench.ts";
import { openApprovalsBench } from "./support/approvals-bench.ts";

let bench: ApprovalsBench;

beforeAll(async () => {
  bench = await openApprovalsBench();
});

afterAll(() => bench[Symbol.asyncDispose]());

test("two services show, count, annotate, and decide the same approvals", async () => {
  const finance = [{ name: "finance", groups: ["finance"], approvals: 1, denials: 1 }];
  const call = { name: "pay", arguments: { to: "ann" } };
  const ids = [
    await bench.park({ agentId: "payer", call }),
    await bench.park({ agentId: "payer", call, alternatives: finance }),
  ];
  const [first, second] = bench.as("ada", "acme", ["role:approver", "finance"]);
  const [outsider] = bench.as("bob", "acme", ["role:approver"]);
  const filter = { forMe: true, agentId: "payer", tool: "pay", text: "ANN" };
  const idsFor = async (client: typeof first) =>
    (await client.listApprovals({ filter })).approvals.map(({ approvalId }) => approvalId);
  // The projection follows the logs with a delay.
  await vi.waitFor(async () => expect((await idsFor(first)).toSorted()).toEqual(ids), 20_000);
  await vi.waitFor(async () => expect(await idsFor(outsider)).toEqual(ids.slice(0, 1)), 20_000);
  const { waitingForMe, agents } = await first.countApprovals({});
  expect({ mine: waitingForMe?.count, agents }).toMatchObject({
    mine: 2,
    agents: [{ name: "payer", count: { count: 2 } }],
  });
  const [one = "", two = ""] = ids;
  await first.commentApproval({ approvalId: one, text: "Is this right?" });
  const { approval } = await second.assignApproval({ approvalId: one, assignee: "ada" });
  expect(approval).toMatchObject({
    comments: [{ text: "Is this right?", commentedBy: "ada" }],
    assignment: { assignee: "ada" },
  });
  const request = { decided: [{ approvalId: one }, { approvalId: two }], approved: true };
  const refused = await outsider.decideApprovals({ ...request, decisionId: "d1" });
  expect(refused.results).toMatchObject([
    { approvalId: one, state: ApprovalState.APPROVED },
    { approvalId: two, error: { code: "PERMISSION_DENIED" } },
  ]);
  const { results } = await second.decideApprovals({ ...request, decisionId: "d2" });
  expect(results).toMatchObject([
    { approvalId: one, error: { reason: "APPROVAL_CLOSED" } },
    { approvalId: two, state: ApprovalState.APPROVED },
  ]);
  await vi.waitFor(async () => {
    const { decisions } = await second.listSimilarDecisions({ approvalId: one });
    expect(decisions).toMatchObject([
      { approvalId: two, decidedBy: "ada", sameArguments: true, state: ApprovalState.APPROVED },
    ]);
  }, 20_000);
});
