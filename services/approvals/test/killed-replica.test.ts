import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { expect, test } from "vitest";
import { openNotifyBench } from "./support/notify-bench.ts";

const nobody = `
receivers:
  - { name: nobody, format: slack, url: "http://127.0.0.1:9/hooks" }
retry: { first_seconds: 60 }
`;

// Requirement: HITL-7
test("a hundred deciders at two replicas, one of which is killed meanwhile, reach one outcome, and each learns which", async () => {
  await using bench = await openNotifyBench(() => nobody);
  const replicas = await Promise.all([bench.startApprovals(), bench.startApprovals()]);
  const transports = replicas.map(({ url }) => createGrpcTransport({ baseUrl: url }));
  const alternatives = [{ name: "1", groups: ["security"], approvals: 3, denials: 3 }];
  const run = await bench.park({ alternatives });
  const approvalId = `${run}-2-0`;
  const firstAnswer = Promise.withResolvers<void>();

  /** Decides at a replica, and at the other one if the first does not answer, as clients do. */
  async function decide(person: number): Promise<ApprovalState | Error> {
    const groups = new Set(["security"]);
    const headers = principalHeaders(
      { tenant: "acme", subject: `person-${person}`, groups },
      "internal-token-of-a-test",
    );
    const request = { approvalId, approved: true, decisionId: `d${person}` };
    for (let attempt = person; ; attempt++) {
      const transport = transports[attempt % 2];
      if (transport === undefined) throw new Error("there are two replicas");
      const client = createClient(ApprovalService, transport);
      const outcome = await client
        .decideApproval(request, { headers })
        .then(({ approval }) => approval?.state ?? ApprovalState.UNSPECIFIED, failureFrom);
      const isLost = outcome instanceof Error && outcome.kind === "unavailable";
      if (!isLost) {
        if (attempt % 2 === 0) firstAnswer.resolve();
        return outcome;
      }
    }
  }

  const deciding = Array.from({ length: 100 }, (_, person) => decide(person));
  await firstAnswer.promise;
  await replicas[0].kill();
  const outcomes = await Promise.all(deciding);

  const [, survivor] = transports;
  if (survivor === undefined) throw new Error("there are two replicas");
  const headers = principalHeaders({ tenant: "acme", subject: "ann" }, "internal-token-of-a-test");
  const reader = createClient(ApprovalService, survivor);
  const read = async () => (await reader.getApproval({ approvalId }, { headers })).approval;
  await expect.poll(read, { timeout: 30_000 }).toMatchObject({ state: ApprovalState.APPROVED });
  const approval = await read();
  const voters = new Set(approval?.votes.map(({ decision }) => decision?.decidedBy));
  expect(voters.size).toBe(3);
  expect(approval?.alternatives).toMatchObject([{ approvalsGiven: 3 }]);
  // Those who voted were told so; everyone else, who approved.
  const winner = approval?.decision?.decidedBy ?? "";
  const isVoter = (_: unknown, person: number) => voters.has(`person-${person}`);
  const { PENDING, APPROVED } = ApprovalState;
  for (const told of outcomes.filter(isVoter)) expect([PENDING, APPROVED]).toContain(told);
  const others = outcomes.filter((_, person) => !isVoter(_, person));
  expect(others).toHaveLength(97);
  for (const told of others) {
    expect(told).toMatchObject({
      reason: ErrorReason.APPROVAL_CLOSED,
      message: expect.stringContaining(`it was approved by ${winner}`),
    });
  }
}, 120_000);
