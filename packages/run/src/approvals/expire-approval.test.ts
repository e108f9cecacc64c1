import { ApprovalState } from "@reeve/contracts/approval";
import type { Dispatch } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { appendEvents, eventsAfter, freshRun } from "@reeve/jetstream/test/support/facts";
import { describe, expect, test } from "vitest";
import type { ExternalFact } from "../commands/append-external.ts";
import { expireApproval } from "./expire-approval.ts";

const { signal } = new AbortController();
const approvalId = "approval_1";

function approval(state: ApprovalState): ExternalFact {
  return { case: "approval", value: { approval: { approvalId, state } } };
}

/** Expires the approval of a parked run to which these facts came later. Returns the kinds of facts that the expiry appended. */
async function expiredAfter(...later: readonly ExternalFact[]) {
  const log = memoryRunLog();
  const dispatch = new MemoryWorkQueue<Dispatch>();
  const key = freshRun();
  const facts: readonly ExternalFact[] = [
    { case: "runCreated", value: { tenant: key.tenant } },
    approval(ApprovalState.PENDING),
    { case: "runParked", value: { waitingFor: [approvalId] } },
    ...later,
  ];
  const tail = await appendEvents(log, key, emptyTail, eventsAfter(0, ...facts), signal);
  await expireApproval({ log, dispatch }, key, approvalId, signal);
  const { events } = await log.read(key, tail, signal);
  return events.map(({ event }) => event);
}

describe("the expiry of an approval", () => {
  // Requirement: HITL-2
  test("is a fact in the log of its run", async () => {
    expect(await expiredAfter()).toMatchObject([
      { case: "approval", value: { approval: { approvalId, state: ApprovalState.TIMED_OUT } } },
    ]);
  });

  test.each([
    ["approved", approval(ApprovalState.APPROVED)],
    ["rejected", approval(ApprovalState.REJECTED)],
    ["expired by another process", approval(ApprovalState.TIMED_OUT)],
    [
      "closed by the end of its run",
      { case: "status", value: { status: RunStatus.CANCELLED } } as const,
    ],
  ])("changes nothing when the approval was %s just before", async (_, closing) => {
    expect(await expiredAfter(closing)).toEqual([]);
  });

  test("is unavailable while the log of the open run is read without the approval", async () => {
    const log = memoryRunLog();
    const ports = { log, dispatch: new MemoryWorkQueue<Dispatch>() };
    const key = freshRun();
    const missing = { kind: "unavailable" };
    await expect(expireApproval(ports, key, approvalId, signal)).rejects.toMatchObject(missing);
    const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
    await appendEvents(log, key, emptyTail, eventsAfter(0, created), signal);
    await expect(expireApproval(ports, key, approvalId, signal)).rejects.toMatchObject(missing);
  });
});
