import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState, DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { emptyTail } from "@reeve/jetstream/log/port";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalOf } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { approvalId, noon, parkedRun, runKey } from "../../test/support/parked-run.ts";
import { escalateApprovals } from "./escalate-approvals.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const minute = 60_000;
const finance = { name: "1", groups: ["finance"], approvals: 2, denials: 2 };
const onCall = { name: "escalation-1", groups: ["on-call"], approvals: 1, denials: 1 };
const chief = { name: "escalation-2", people: ["lea"], approvals: 1, denials: 1 };

type Parked = Awaited<ReturnType<typeof parkedRun>>;

/** Creates a run whose approval, in the inbox, escalates after one minute and after an hour. */
async function escalating(more = {}): Promise<Parked> {
  const ports = await parkedRun({
    alternatives: [finance],
    requestedAt: timestampFromMs(noon),
    escalations: [
      { dueAt: timestampFromMs(noon + minute), alternative: onCall },
      { dueAt: timestampFromMs(noon + 60 * minute), alternative: chief },
    ],
    ...more,
  });
  await project(ports);
  return ports;
}

/** Brings the approval into the inbox, as the projection does. */
async function project(ports: Parked): Promise<void> {
  await ports.inbox.put(`${runKey.tenant}.${approvalId}`, await current(ports), never);
}

async function current({ log: runs }: Parked): Promise<Approval> {
  const { events } = await runs.read(runKey, emptyTail, never);
  const approval = approvalOf(await foldRun(events, never), approvalId);
  if (approval === undefined) throw new Error("the run has no approval");
  return approval;
}

/** Escalates approvals, as a process does, until it is disposed. */
function escalation(ports: Parked): AsyncDisposable {
  const stop = new AbortController();
  const working = escalateApprovals(ports, log, stop.signal);
  working.catch(() => undefined);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await working.catch(() => undefined);
    },
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
}

const vote = (ports: Parked, subject: string, group: string) =>
  decideApproval(
    ports,
    { tenant: runKey.tenant, subject, groups: new Set([group]) },
    create(DecideApprovalRequestSchema, { approvalId, approved: true }),
    never,
  );

describe("an approval that waits", () => {
  test("is decided by more people from its escalation on, and not before", async () => {
    const ports = await escalating();
    await using _ = escalation(ports);
    await settled();
    await ports.clock.advance(minute - 1);
    await settled();
    await expect(vote(ports, "oncall", "on-call")).rejects.toMatchObject({ kind: "denied" });
    await ports.clock.advance(1);
    await settled();
    expect(await current(ports)).toMatchObject({
      state: ApprovalState.PENDING,
      revision: 1,
      alternatives: [finance, onCall],
      escalations: [{ escalatedAt: timestampFromMs(noon + minute), revision: 1 }, { revision: 0 }],
    });
    expect(await vote(ports, "oncall", "on-call")).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { decidedBy: "oncall" },
    });
  });

  test("escalates once, however many processes find that it is due, and again at the next time", async () => {
    const ports = await escalating();
    await using processes = new AsyncDisposableStack();
    for (let count = 0; count < 3; count++) processes.use(escalation(ports));
    await settled();
    await ports.clock.advance(minute);
    await settled();
    expect((await current(ports)).revision).toBe(1);
    await project(ports);
    await settled();
    await ports.clock.advance(59 * minute - 1);
    await settled();
    expect((await current(ports)).revision).toBe(1);
    await ports.clock.advance(1);
    await settled();
    expect(await current(ports)).toMatchObject({
      revision: 2,
      alternatives: [finance, onCall, chief],
    });
  });

  test("has all that was due after an outage, with votes that it had", async () => {
    const ports = await escalating();
    await vote(ports, "fay", "finance");
    await project(ports);
    await ports.clock.advance(61 * minute);
    await using _ = escalation(ports);
    await settled();
    expect(await current(ports)).toMatchObject({
      revision: 2,
      alternatives: [{ approvalsGiven: 1 }, onCall, chief],
      votes: [{ decision: { decidedBy: "fay" } }],
      escalations: [{ revision: 2 }, { revision: 2 }],
    });
  });

  test("does not escalate once it was decided, or has expired, even if neither is in the inbox yet", async () => {
    const decided = await escalating({ alternatives: [{ ...finance, approvals: 1 }] });
    await vote(decided, "fay", "finance");
    const expired = await escalating({ expiresAt: timestampFromMs(noon + 2 * minute) });
    for (const ports of [decided, expired]) {
      const before = await current(ports);
      await ports.clock.advance(2 * minute);
      await using _ = escalation(ports);
      await settled();
      expect(await current(ports)).toEqual(before);
    }
  });

  test("tells only the receivers of notifications if everyone may decide from the start", async () => {
    const ports = await escalating({
      alternatives: [],
      escalations: [{ dueAt: timestampFromMs(noon + minute) }],
    });
    await ports.clock.advance(minute);
    await using _ = escalation(ports);
    await settled();
    expect(await current(ports)).toMatchObject({
      revision: 1,
      alternatives: [],
      escalations: [{ revision: 1 }],
    });
    expect((await vote(ports, "anyone", "sales")).state).toBe(ApprovalState.APPROVED);
  });
});
