import { create } from "@bufbuild/protobuf";
import type { DecisionResult } from "@reeve/contracts/approval";
import { ApprovalState, DecideApprovalsRequestSchema } from "@reeve/contracts/approval";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { ada, approvalId, parkedRun, runKey } from "../../test/support/parked-run.ts";
import { decideApprovals } from "./decide-approvals.ts";

const never = new AbortController().signal;
const unknown = "run_unknown0-3-0";

const requestFor = (ids: readonly string[], more: object = {}) =>
  create(DecideApprovalsRequestSchema, {
    decided: ids.map((id) => ({ approvalId: id })),
    approved: true,
    reason: "all fine",
    decisionId: "d1",
    ...more,
  });

const shown = (results: readonly DecisionResult[]) =>
  results.map((each) => [each.approvalId, each.runId, each.state, each.error?.reason]);

test("each decision has a result of its own, and a repetition has the same ones", async () => {
  const ports = await parkedRun();
  const request = requestFor([unknown, approvalId]);
  const expected = [
    [unknown, "", ApprovalState.UNSPECIFIED, "APPROVAL_NOT_FOUND"],
    [approvalId, runKey.run, ApprovalState.APPROVED, undefined],
  ];
  expect(shown(await decideApprovals(ports, ada, request, never))).toEqual(expected);
  expect(shown(await decideApprovals(ports, ada, request, never))).toEqual(expected);
  const { events } = await ports.log.read(runKey, emptyTail, never);
  const decisions = events.flatMap(({ event }) =>
    event.case === "approval" ? (event.value.approval?.decision ?? []) : [],
  );
  expect(decisions).toMatchObject([
    { decisionId: "d1", decidedBy: "ada", approved: true, reason: "all fine" },
  ]);
});

test("another decision, or one about another call, fails with the status that it has alone", async () => {
  const ports = await parkedRun({ callDigest: "a".repeat(64) });
  const other = [{ approvalId, callDigest: "b".repeat(64) }];
  const [mismatch] = await decideApprovals(ports, ada, requestFor([], { decided: other }), never);
  expect(mismatch?.error).toMatchObject({
    code: "FAILED_PRECONDITION",
    reason: "APPROVAL_MISMATCH",
    message: expect.stringContaining(approvalId) as string,
  });
  await decideApprovals(ports, ada, requestFor([approvalId]), never);
  const rejecting = requestFor([approvalId], { approved: false, decisionId: "d2" });
  const [closed] = await decideApprovals(ports, ada, rejecting, never);
  expect(closed?.error?.reason).toBe("APPROVAL_CLOSED");
});

test("a vote that waits for others leaves the approval pending", async () => {
  const two = [{ name: "two", approvals: 2, denials: 1 }];
  const ports = await parkedRun({ alternatives: two });
  const results = await decideApprovals(ports, ada, requestFor([approvalId]), never);
  expect(shown(results)).toEqual([[approvalId, runKey.run, ApprovalState.PENDING, undefined]]);
});

test("approvals that an open run does not have are searched for within one deadline", async () => {
  const steadyClock = new HastyClock();
  const ports = { ...(await parkedRun()), steadyClock };
  const ids = Array.from({ length: 100 }, (_, index) => `${runKey.run}-9-${index}`);
  const results = await decideApprovals(ports, ada, requestFor(ids), never);
  expect(new Set(results.map(({ error }) => error?.reason))).toEqual(
    new Set(["APPROVAL_NOT_FOUND"]),
  );
  expect(steadyClock.now()).toBeLessThanOrEqual(8_000);
});
