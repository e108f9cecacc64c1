import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalFilterSchema, ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { approver, numbered, numberOf, openLists } from "../../../test/support/listed-approvals.ts";
import { watchApprovals } from "./watch-approvals.ts";

const vote = (decidedBy: string) => ({ decision: { decidedBy, approved: true } });
const never = new AbortController().signal;

test("a watch with a filter has what matches, and once more what ceases to match", async () => {
  const ports = await openLists(numbered(1), numbered(2, { excludedSubjects: ["ada"] }));
  const filter = create(ApprovalFilterSchema, { states: [ApprovalState.PENDING], forMe: true });
  const watched = watchApprovals(ports, approver("ada"), { runId: "", filter }, never);
  const changes = watched[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = await changes.next();
    return value === undefined ? undefined : [numberOf(value), value.state];
  };
  const put = (approval: Approval) =>
    ports.inbox.put(`acme.${approval.approvalId}`, approval, never);
  expect(await next()).toEqual([1, ApprovalState.PENDING]);
  await put(numbered(2, { excludedSubjects: ["ada"], state: ApprovalState.APPROVED }));
  await put(numbered(1, { state: ApprovalState.REJECTED }));
  expect(await next()).toEqual([1, ApprovalState.REJECTED]);
  // It was shown for the last time.
  await put(numbered(1, { state: ApprovalState.SUPERSEDED }));
  await put(numbered(3));
  expect(await next()).toEqual([3, ApprovalState.PENDING]);
  await changes.return?.();
});

test("a watch for a person who has voted has the approval until it is closed", async () => {
  const ports = await openLists(numbered(1));
  const filter = create(ApprovalFilterSchema, { states: [ApprovalState.PENDING], forMe: true });
  const watched = watchApprovals(ports, approver("ada"), { runId: "", filter }, never);
  const changes = watched[Symbol.asyncIterator]();
  const states: (ApprovalState | undefined)[] = [(await changes.next()).value?.state];
  for (const change of [
    numbered(1, { votes: [vote("ada")] }),
    numbered(1, { votes: [vote("ada"), vote("eve")] }),
    numbered(1, { state: ApprovalState.APPROVED }),
  ]) {
    await ports.inbox.put("acme.run_aaaaaaaa-3-1", change, never);
    const { value } = await changes.next();
    states.push(value?.state);
  }
  const { PENDING, APPROVED } = ApprovalState;
  expect(states).toEqual([PENDING, PENDING, PENDING, APPROVED]);
  await changes.return?.();
});
