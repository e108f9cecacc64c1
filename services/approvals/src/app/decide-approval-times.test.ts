import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalState, DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { QuestionSchema } from "@reeve/contracts/tool";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { describe, expect, test } from "vitest";
import { ada, approvalId, noon, parkedRun } from "../../test/support/parked-run.ts";

const never = new AbortController().signal;
const request = (approved: boolean) =>
  create(DecideApprovalRequestSchema, { approvalId, approved });

const policy = (section: string) => () =>
  parsePolicyFile(`rules: []\napprovals:\n${section}`, "policy.yaml").approvals;
const freeze = policy(
  `  freezes: [{ name: lunch, tools: [pay], from: "2026-01-01T12:00:00Z", until: "2026-01-01T13:00:00Z" }]`,
);
const paying = { requestedAt: timestampFromMs(noon), call: { name: "pay" }, agentId: "buyer" };

describe("an approval that comes too early", () => {
  test("is refused until the wait has ended, to the millisecond; a rejection is not", async () => {
    const decidableAfter = timestampFromMs(noon + 60_000);
    const ports = await parkedRun({ ...paying, decidableAfter });
    await ports.clock.advance(59_999);
    await expect(decideApproval(ports, ada, request(true), never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.APPROVAL_TOO_EARLY,
      message: expect.stringContaining("before 2026-01-01T12:01:00.000Z") as unknown,
      metadata: { decidable_after: "2026-01-01T12:01:00.000Z" },
    });
    await ports.clock.advance(1);
    const decided = await decideApproval(ports, ada, request(true), never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
    const other = await parkedRun({ ...paying, decidableAfter });
    const rejected = await decideApproval(other, ada, request(false), never);
    expect(rejected.state).toBe(ApprovalState.REJECTED);
  });

  test("is refused in a freeze, which the refusal names with its end; a rejection is not", async () => {
    const ports = { ...(await parkedRun(paying)), times: freeze };
    await expect(decideApproval(ports, ada, request(true), never)).rejects.toMatchObject({
      reason: ErrorReason.APPROVAL_TOO_EARLY,
      message: expect.stringContaining(
        'in the freeze "lunch", which ends at 2026-01-01T13:00:00.000Z',
      ) as unknown,
      metadata: { freeze: "lunch", decidable_after: "2026-01-01T13:00:00.000Z" },
    });
    await ports.clock.advance(3_600_000);
    const decided = await decideApproval(ports, ada, request(true), never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
    const other = { ...(await parkedRun(paying)), times: freeze };
    const rejected = await decideApproval(other, ada, request(false), never);
    expect(rejected.state).toBe(ApprovalState.REJECTED);
  });

  test("is refused also if the wait ends while it is decided: it has one time, that of its check", async () => {
    const decidableAfter = timestampFromMs(noon + 60_000);
    const ports = await parkedRun({ ...paying, decidableAfter });
    let atMs = noon + 59_985;
    const clock = { now: () => (atMs += 10) };
    await expect(
      decideApproval({ ...ports, clock }, ada, request(true), never),
    ).rejects.toMatchObject({ reason: ErrorReason.APPROVAL_TOO_EARLY });
    const decided = await decideApproval({ ...ports, clock }, ada, request(true), never);
    expect(decided.decision?.decidedAt).toEqual(timestampFromMs(noon + 60_005));
  });

  test("is no vote either, and a question is answered at any time", async () => {
    const alternatives = [{ name: "1", people: ["ada", "bob"], approvals: 2, denials: 2 }];
    const ports = { ...(await parkedRun({ ...paying, alternatives })), times: freeze };
    await expect(decideApproval(ports, ada, request(true), never)).rejects.toMatchObject({
      reason: ErrorReason.APPROVAL_TOO_EARLY,
    });
    const voted = await decideApproval(ports, ada, request(false), never);
    expect(voted.votes).toHaveLength(1);
    const question = create(QuestionSchema, { questionId: "q1" });
    const asking = { ...(await parkedRun({ ...paying, question })), times: freeze };
    const answered = await decideApproval(asking, ada, request(true), never);
    expect(answered.state).toBe(ApprovalState.APPROVED);
  });

  test("is refused in a wait of the agent that a runtime of an earlier version did not record", async () => {
    const approvalPolicy = { waits: [{ tools: ["pay"], wait: { seconds: 60n } }] };
    const ports = await parkedRun(paying, [], { spec: { approvalPolicy } });
    await ports.clock.advance(59_999);
    await expect(decideApproval(ports, ada, request(true), never)).rejects.toMatchObject({
      reason: ErrorReason.APPROVAL_TOO_EARLY,
      metadata: { decidable_after: "2026-01-01T12:01:00.000Z" },
    });
    await ports.clock.advance(1);
    const decided = await decideApproval(ports, ada, request(true), never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
  });

  test("has the longest of the waits of agent and operator", async () => {
    const times = policy("  waits: [{ name: slow, wait: 2m }]");
    const ports = { ...(await parkedRun(paying)), times };
    await ports.clock.advance(119_999);
    await expect(decideApproval(ports, ada, request(true), never)).rejects.toThrow("12:02:00.000Z");
    const decidableAfter = timestampFromMs(noon + 180_000);
    const longer = { ...(await parkedRun({ ...paying, decidableAfter })), times };
    await expect(decideApproval(longer, ada, request(true), never)).rejects.toThrow(
      "12:03:00.000Z",
    );
  });
});
