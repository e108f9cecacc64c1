import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import {
  ApprovalSchema,
  ApprovalState,
  ListApprovalsRequestSchema,
  WatchApprovalsRequestSchema,
} from "@reeve/contracts/approval";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { noon } from "../../test/support/parked-run.ts";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { openApprovalLists } from "./approval-lists.ts";
import { withoutGroupWatch } from "./groups/watched-groups.ts";
import { watchApprovals } from "./inbox/watch-approvals.ts";
import { getApproval, listApprovals } from "./read-approvals.ts";

const ada = { tenant: "acme", subject: "ada" };
const ofRun = create(WatchApprovalsRequestSchema, { runId: "run_aaaaaaaa" });
const never = new AbortController().signal;
const { PENDING, APPROVED } = ApprovalState;

/** Noon, without an operator's policy. */
const atNoon = () => ({
  clock: new ManualClock(noon),
  times: () => undefined,
  groups: withoutGroupWatch,
});

async function inboxWith(...approvals: readonly Approval[]) {
  const inbox = new MemoryTable<Approval>();
  for (const approval of approvals) await inbox.put(`acme.${approval.approvalId}`, approval, never);
  return inbox;
}

const approvalOf = (run: string, index: number, state: ApprovalState = PENDING, name = "x") =>
  create(ApprovalSchema, {
    call: { name },
    approvalId: `run_${run}-3-${index}`,
    runId: `run_${run}`,
    state,
    requestedAt: timestampFromMs(noon - index),
  });

function listsOf(inbox: MemoryTable<Approval>) {
  const options = { folder: undefined, log: createLogger("test", "silent") };
  return openApprovalLists(inbox, options, never);
}

async function listed(inbox: MemoryTable<Approval>, request = {}, tenant = "acme") {
  const wanted = create(ListApprovalsRequestSchema, request);
  const ports = { lists: listsOf(inbox), ...atNoon() };
  const { items, nextPageToken } = await listApprovals(
    ports,
    { tenant, subject: "ada" },
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
    const ports = { inbox: await inboxWith(approvalOf("aaaaaaaa", 0)), ...atNoon() };
    const refusal = { kind: "not_found", metadata: { approval_id: approvalId } };
    await expect(getApproval(ports, ada, approvalId, never)).rejects.toMatchObject(refusal);
    await expect(
      getApproval(ports, { ...ada, tenant: "globex" }, "run_aaaaaaaa-3-0", never),
    ).rejects.toMatchObject({
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
  const ports = { lists: listsOf(inbox), ...atNoon() };
  const watched = watchApprovals(ports, ada, ofRun, never);
  const changes = watched[Symbol.asyncIterator]();
  const next = async () => (await changes.next()).value?.approvals;
  // The first message says that the watch begins anew.
  expect(await next()).toEqual([]);
  expect(await next()).toEqual([approvalOf("aaaaaaaa", 0)]);
  const changed = next();
  await inbox.put("acme.run_bbbbbbbb-3-0", approvalOf("bbbbbbbb", 0, APPROVED), never);
  await inbox.put("acme.run_aaaaaaaa-3-0", approvalOf("aaaaaaaa", 0, APPROVED), never);
  expect(await changed).toEqual([approvalOf("aaaaaaaa", 0, APPROVED)]);
  await changes.return?.();
});

test("an idle watch sends a heartbeat every few seconds", async () => {
  const clock = new ManualClock(noon);
  const inbox = await inboxWith();
  const ports = { lists: listsOf(inbox), ...atNoon(), clock };
  const changes = watchApprovals(ports, ada, ofRun, never)[Symbol.asyncIterator]();
  await changes.next();
  const resumeToken = (await changes.next()).value?.resumeToken;
  expect(resumeToken).not.toBe("");
  for (let beat = 0; beat < 3; beat++) {
    const next = changes.next();
    while (clock.sleepers === 0) await new Promise(setImmediate);
    // An approval that is not selected is no heartbeat.
    await inbox.put("acme.run_bbbbbbbb-3-0", approvalOf("bbbbbbbb", beat), never);
    await new Promise(setImmediate);
    await clock.advance(5_000);
    expect(await next).toEqual({ done: false, value: { approvals: [], resumeToken } });
  }
  await changes.return?.();
  expect(clock.sleepers).toBe(0);
});

test("a pending approval shows the wait of the policy of now, and the freeze of its tenant", async () => {
  const policy = parsePolicyFile(
    `
rules: []
approvals:
  waits: [{ name: slow, tools: ["pay*"], wait: 30m }]
  freezes: [{ name: new-year, tenants: [acme], from: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" }]`,
    "policy.yaml",
  );
  const paying = approvalOf("aaaaaaaa", 0, PENDING, "pay_bill");
  const { approvalId } = paying;
  const inbox = await inboxWith(paying);
  await inbox.put(`globex.${approvalId}`, paying, never);
  const ports = { inbox, lists: listsOf(inbox), ...atNoon(), times: () => policy.approvals };
  expect(await getApproval(ports, ada, approvalId, never)).toMatchObject({
    decidableAfter: timestampFromMs(noon + 30 * 60_000),
    freeze: { name: "new-year", endsAt: timestampFromMs(Date.parse("2026-01-02T00:00:00Z")) },
  });
  expect(
    (await getApproval(ports, { ...ada, tenant: "globex" }, approvalId, never)).freeze,
  ).toBeUndefined();
  const request = create(WatchApprovalsRequestSchema);
  const changes = watchApprovals(ports, ada, request, never)[Symbol.asyncIterator]();
  await changes.next();
  const [first] = (await changes.next()).value?.approvals ?? [];
  expect(first?.freeze?.name).toBe("new-year");
  await changes.return?.();
});
