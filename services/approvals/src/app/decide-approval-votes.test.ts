import { create } from "@bufbuild/protobuf";
import { DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { expect, test } from "vitest";
import { ada, approvalId, parkedRun, runKey } from "../../test/support/parked-run.ts";

const never = new AbortController().signal;
const request = (approved: boolean, decisionId = "", reason = "") =>
  create(DecideApprovalRequestSchema, { approvalId, approved, decisionId, reason });
const anyone = { name: "1", people: ["ada", "bob"], approvals: 2, denials: 2 };

test("a vote that its person has replaced since changes nothing when it is repeated late", async () => {
  const ports = await parkedRun({ alternatives: [anyone] });
  await decideApproval(ports, ada, request(true, "d1"), never);
  const replaced = await decideApproval(ports, ada, request(false, "d2"), never);
  expect(await decideApproval(ports, ada, request(true, "d1"), never)).toEqual(replaced);
  expect(replaced.votes).toMatchObject([{ decision: { approved: false }, attempts: 2 }]);
  const again = await decideApproval(ports, ada, request(true, "d3"), never);
  expect(again.votes).toMatchObject([{ attempts: 3, earlierDecisionIds: ["d1", "d2"] }]);
});

test("the same vote with another id is remembered, so that its late repetition changes nothing", async () => {
  const ports = await parkedRun({ alternatives: [anyone] });
  await decideApproval(ports, ada, request(true, "d1"), never);
  const second = await decideApproval(ports, ada, request(true, "d2"), never);
  expect(second.alternatives).toMatchObject([{ approvalsGiven: 1 }]);
  const changed = await decideApproval(ports, ada, request(false, "d3"), never);
  for (const late of ["d1", "d2"]) {
    expect(await decideApproval(ports, ada, request(true, late), never)).toEqual(changed);
  }
});

test("the same vote without an id, or with ids without end, adds a bounded number of facts", async () => {
  const ports = await parkedRun({ alternatives: [anyone] });
  for (let turn = 0; turn < 20; turn++) {
    await decideApproval(ports, ada, request(true), never);
    await decideApproval(ports, ada, request(true, `d${turn}`), never);
  }
  const { events } = await ports.log.read(runKey, emptyTail, never);
  expect(events.filter(({ event }) => event.case === "approval")).toHaveLength(1 + 5);
});

test("a sixth vote is refused as one that the state of the approval does not permit", async () => {
  const ports = await parkedRun({ alternatives: [anyone] });
  for (let turn = 0; turn < 5; turn++) {
    await decideApproval(ports, ada, request(turn % 2 === 0, `d${turn}`), never);
  }
  const sixth = decideApproval(ports, ada, request(false, "d5"), never);
  await expect(sixth).rejects.toMatchObject({
    kind: "precondition",
    reason: ErrorReason.VOTES_USED_UP,
  });
});
