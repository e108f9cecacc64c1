import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import {
  ApprovalSchema,
  ApprovalState,
  ListApprovalsRequestSchema,
} from "@reeve/contracts/approval";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { noon } from "../../test/support/parked-run.ts";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { openApprovalLists } from "./approval-lists.ts";
import { getApproval, listApprovals, watchApprovals } from "./read-approvals.ts";

const never = new AbortController().signal;
const { PENDING, APPROVED } = ApprovalState;

async function inboxWith(...approvals: readonly Approval[]) {
  const inbox = new MemoryTable<Approval>();
  for (const approval of approvals) await inbox.put(`acme.${approval.approvalId}`, approval, never);
  return inbox;
}

const approvalOf = (run: string, index: number, state: ApprovalState = PENDING) =>
  create(ApprovalSchema, {
    approvalId: `run_${run}-3-${index}`,
    runId: `run_${run}`,
    state,
    requestedAt: timestampFromMs(noon - index),
  });

async function listed(inbox: MemoryTable<Approval>, request = {}, tenant = "acme") {
  const wanted = create(ListApprovalsRequestSchema, request);
  const { items, nextPageToken } = await listApprovals(
    openApprovalLists(inbox, { folder: undefined, log: createLogger("test", "silent") }, never),
    tenant,
    wanted,
    never,
  );
  return { ids: items.map(({ approvalId }) => approvalId), nextPageToken };
}

// Requirement: HITL-4
test("the inbox lists the pending approvals, oldest first, and on request the closed ones", async () => {
  const inbox = await inboxWith(
    approvalOf("aaaaaaaa", 0),
    approvalOf("bbbbbbbb", 1, APPROVED),
    approvalOf("aaaaaaaa", 2),
  );
  expect((await listed(inbox)).ids).toEqual(["run_aaaaaaaa-3-2", "run_aaaaaaaa-3-0"]);
  expect((await listed(inbox, { includeClosed: true })).ids).toHaveLength(3);
  const ofOne = { includeClosed: true, runId: "run_bbbbbbbb" };
  expect((await listed(inbox, ofOne)).ids).toEqual(["run_bbbbbbbb-3-1"]);
  expect((await listed(inbox, {}, "globex")).ids).toEqual([]);
});

test("pages neither hide nor repeat approvals that are decided in between", async () => {
  const all = Array.from({ length: 5 }, (_, index) => approvalOf("aaaaaaaa", 5 - index));
  const inbox = await inboxWith(...all);
  const first = await listed(inbox, { pageSize: 2 });
  expect(first.ids).toEqual(["run_aaaaaaaa-3-5", "run_aaaaaaaa-3-4"]);
  await inbox.put("acme.run_aaaaaaaa-3-4", approvalOf("aaaaaaaa", 4, APPROVED), never);
  const second = await listed(inbox, { pageSize: 9, pageToken: first.nextPageToken });
  expect(second).toEqual({
    ids: ["run_aaaaaaaa-3-3", "run_aaaaaaaa-3-2", "run_aaaaaaaa-3-1"],
    nextPageToken: "",
  });
});

test.each(["nonsense", "*", ">", "run_aaaaaaaa", "run_aaaaaaaa-3-0.x", "run_aaaaaaaa-3-9", "\0"])(
  "%j is not found, and neither is an approval of another tenant",
  async (approvalId) => {
    const inbox = await inboxWith(approvalOf("aaaaaaaa", 0));
    const refusal = { kind: "not_found", metadata: { approval_id: approvalId } };
    await expect(getApproval(inbox, "acme", approvalId, never)).rejects.toMatchObject(refusal);
    await expect(getApproval(inbox, "globex", "run_aaaaaaaa-3-0", never)).rejects.toMatchObject({
      kind: "not_found",
    });
  },
);

test("a watch has the pending approvals, then every change of the selected ones", async () => {
  const inbox = await inboxWith(
    approvalOf("aaaaaaaa", 0),
    approvalOf("aaaaaaaa", 1, APPROVED),
    approvalOf("bbbbbbbb", 0),
  );
  const clock = new ManualClock(noon);
  const watched = watchApprovals({ inbox, clock }, "acme", "run_aaaaaaaa", never);
  const changes = watched[Symbol.asyncIterator]();
  expect((await changes.next()).value).toEqual(approvalOf("aaaaaaaa", 0));
  const next = changes.next();
  await inbox.put("acme.run_bbbbbbbb-3-0", approvalOf("bbbbbbbb", 0, APPROVED), never);
  await inbox.put("acme.run_aaaaaaaa-3-0", approvalOf("aaaaaaaa", 0, APPROVED), never);
  expect((await next).value).toEqual(approvalOf("aaaaaaaa", 0, APPROVED));
  await changes.return?.();
});

test("an idle watch sends a heartbeat every few seconds", async () => {
  const clock = new ManualClock(noon);
  const inbox = await inboxWith();
  const changes = watchApprovals({ inbox, clock }, "acme", "run_aaaaaaaa", never)[
    Symbol.asyncIterator
  ]();
  for (let beat = 0; beat < 3; beat++) {
    const next = changes.next();
    while (clock.sleepers === 0) await new Promise(setImmediate);
    // An approval that is not selected is no heartbeat.
    await inbox.put("acme.run_bbbbbbbb-3-0", approvalOf("bbbbbbbb", beat), never);
    await new Promise(setImmediate);
    await clock.advance(5_000);
    expect(await next).toEqual({ done: false, value: undefined });
  }
  await changes.return?.();
  expect(clock.sleepers).toBe(0);
});
