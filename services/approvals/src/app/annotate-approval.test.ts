import { create } from "@bufbuild/protobuf";
import {
  ApprovalState,
  AssignApprovalRequestSchema,
  CommentApprovalRequestSchema,
  DecideApprovalRequestSchema,
} from "@reeve/contracts/approval";
import { emptyTail } from "@reeve/jetstream/log/port";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { foldOwnership, noOwnership, requiredDispatch } from "@reeve/run/head/ownership";
import { assignApproval, commentApproval } from "@reeve/run/approvals/notes/annotate-approval";
import { expect, test } from "vitest";
import { ada, approvalId, parkedRun, runKey } from "../../test/support/parked-run.ts";

const never = new AbortController().signal;
const eve = { ...ada, subject: "eve" };
const comment = (text: string, commentId = "") =>
  create(CommentApprovalRequestSchema, { approvalId, text, commentId });
const assign = (assignee: string) => create(AssignApprovalRequestSchema, { approvalId, assignee });
const rejection = create(DecideApprovalRequestSchema, { approvalId, reason: "no" });

test("a comment is a fact that decides nothing, and the decision keeps it", async () => {
  const ports = await parkedRun();
  const commented = await commentApproval(
    ports,
    ada,
    comment("Is this the new bank?", "c1"),
    never,
  );
  expect(commented).toMatchObject({
    state: ApprovalState.PENDING,
    revision: 1,
    comments: [{ text: "Is this the new bank?", commentedBy: "ada" }],
  });
  expect(commented.decision).toBeUndefined();
  const repeated = await commentApproval(ports, ada, comment("Is this the new bank?", "c1"), never);
  expect(repeated.comments).toHaveLength(1);
  const ofAnother = await commentApproval(ports, eve, comment("Yes.", "c1"), never);
  expect(ofAnother.comments.map(({ commentedBy }) => commentedBy)).toEqual(["ada", "eve"]);
  const decided = await decideApproval(ports, ada, rejection, never);
  expect(decided).toMatchObject({ state: ApprovalState.REJECTED, revision: 3 });
  expect(decided.comments).toHaveLength(2);
});

test("a note leaves a parked run parked, and the decision wakes it", async () => {
  const ports = await parkedRun();
  await commentApproval(ports, ada, comment("Is this the new bank?"), never);
  await assignApproval(ports, ada, assign("eve"), never);
  expect(ports.dispatch.length).toBe(0);
  const { events } = await ports.log.read(runKey, emptyTail, never);
  const last = events.at(-1)?.event;
  expect(last).toMatchObject({ case: "runParked", value: { waitingFor: [approvalId] } });
  expect(requiredDispatch(runKey.run, foldOwnership(noOwnership, events))).toBeUndefined();
  await decideApproval(ports, ada, rejection, never);
  expect(ports.dispatch.length).toBe(1);
});

test("an approval with large arguments takes no notes that leave no room for its decision", async () => {
  const text = "x".repeat(767 * 1024);
  const ports = await parkedRun({ call: { name: "pay", arguments: { text } } });
  await expect(
    commentApproval(ports, ada, comment("y".repeat(2_000)), never),
  ).rejects.toMatchObject({
    kind: "exhausted",
  });
  expect((await decideApproval(ports, ada, rejection, never)).state).toBe(ApprovalState.REJECTED);
});

test("an assignment names a person, and changes nobody's rights", async () => {
  const ports = await parkedRun();
  const assigned = await assignApproval(ports, ada, assign("eve"), never);
  expect(assigned.assignment).toMatchObject({ assignee: "eve", assignedBy: "ada" });
  const again = await assignApproval(ports, ada, assign("eve"), never);
  expect(again.revision).toBe(assigned.revision);
  const released = await assignApproval(ports, eve, assign(""), never);
  expect(released.assignment).toMatchObject({ assignee: "", assignedBy: "eve" });
  await assignApproval(ports, ada, assign("eve"), never);
  const decided = await decideApproval(ports, ada, rejection, never);
  expect(decided).toMatchObject({
    decision: { decidedBy: "ada" },
    assignment: { assignee: "eve" },
  });
});

test("a closed approval takes no notes, but a repetition of one is answered", async () => {
  const ports = await parkedRun();
  await commentApproval(ports, ada, comment("Wait.", "c1"), never);
  await decideApproval(ports, ada, rejection, never);
  const closed = { kind: "precondition", metadata: { approval_id: approvalId } };
  await expect(commentApproval(ports, ada, comment("Late."), never)).rejects.toMatchObject(closed);
  await expect(assignApproval(ports, ada, assign("eve"), never)).rejects.toMatchObject(closed);
  const repeated = await commentApproval(ports, ada, comment("Wait.", "c1"), never);
  expect(repeated.state).toBe(ApprovalState.REJECTED);
});

test("an approval has 50 comments at most, and is not found in another tenant", async () => {
  const ports = await parkedRun();
  for (let at = 0; at < 50; at++) await commentApproval(ports, ada, comment(`${at}`), never);
  await expect(commentApproval(ports, ada, comment("more"), never)).rejects.toMatchObject({
    kind: "exhausted",
  });
  const stranger = { tenant: "globex", subject: "ada" };
  await expect(commentApproval(ports, stranger, comment("hi"), never)).rejects.toMatchObject({
    kind: "not_found",
  });
});
