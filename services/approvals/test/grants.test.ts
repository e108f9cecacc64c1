import { ApprovalState, GrantScope } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApprovalsBench } from "./support/approvals-bench.ts";
import { openApprovalsBench } from "./support/approvals-bench.ts";

let bench: ApprovalsBench;

beforeAll(async () => {
  bench = await openApprovalsBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

const asking = (agentId: string, to: string) =>
  bench.park({ agentId, call: { callId: "c", name: "pay", arguments: { to } } });

const grant = (rule: string, maxUses: number) => ({ scope: GrantScope.AGENT, rule, maxUses });

function isApproved({ state }: { readonly state?: ApprovalState } = {}): boolean {
  return state === ApprovalState.APPROVED;
}

async function lastOf(approvalId: string) {
  const facts = (await bench.eventsOf(approvalId)).flatMap(({ event }) =>
    event.case === "approval" ? (event.value.approval ?? []) : [],
  );
  return facts.at(-1);
}

// Requirement: HITL-7
test("a grant decides as many approvals as it says, over two services and a kill of the store", async () => {
  const [ann, others] = bench.as("ann");
  const first = await asking("buyer", "bob");
  const decision = { approvalId: first, approved: true, grant: grant("pay(bob)", 3) };
  const { approval } = await ann.decideApproval(decision);
  const grantId = approval?.decision?.grant?.grantId ?? "";
  const ids = await Promise.all(Array.from({ length: 3 }, () => asking("buyer", "bob")));
  await bench.restartNats();
  ids.push(...(await Promise.all(Array.from({ length: 4 }, () => asking("buyer", "bob")))));
  const stranger = await asking("buyer", "eve");
  const usesIn = async () => (await others.listGrants({})).grants[0]?.uses.length;
  await expect.poll(usesIn, { timeout: 20_000 }).toBe(3);
  const decided = () => Promise.all(ids.map(lastOf));
  await expect
    .poll(async () => (await decided()).filter(isApproved).length, { timeout: 20_000 })
    .toBe(3);
  for (const each of (await decided()).filter(isApproved)) {
    expect(each?.decision).toMatchObject({ decidedBy: "ann", appliedGrant: { grantId } });
  }
  expect((await lastOf(stranger))?.state).toBe(ApprovalState.PENDING);
  await expect
    .poll(async () => (await bench.trail()).filter((act) => act.startsWith("reeve/grants")).length)
    .toBe(3);
});

test("a grant is revoked at one service, and belongs to its tenant", async () => {
  const [ann, others] = bench.as("ann");
  const first = await asking("seller", "bob");
  const decision = { approvalId: first, approved: true, grant: grant("pay", 5) };
  const { approval } = await ann.decideApproval(decision);
  const grantId = approval?.decision?.grant?.grantId ?? "";
  const [gus] = bench.as("gus", "globex");
  expect((await gus.listGrants({})).grants).toEqual([]);
  const refusal = { kind: "not_found", reason: ErrorReason.APPROVAL_NOT_FOUND };
  for (const id of [grantId, "grt_x", "*", "a.b"]) {
    const refused = await gus.revokeGrant({ grantId: id }).then(() => undefined, failureFrom);
    expect(refused).toMatchObject(refusal);
  }
  expect((await others.revokeGrant({ grantId })).grant?.revokedBy).toBe("ann");
  const later = await asking("seller", "bob");
  const known = await asking("seller", "eve");
  // Both services have seen the later requests once they decide one of them.
  await ann.decideApproval({ approvalId: known, approved: true });
  expect((await ann.listGrants({ agentId: "seller" })).grants[0]?.uses).toEqual([]);
  expect((await lastOf(later))?.state).toBe(ApprovalState.PENDING);
});
