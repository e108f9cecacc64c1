import { create } from "@bufbuild/protobuf";
import { ApprovalState, DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import type { Dispatch } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { ForeignFact } from "@reeve/log/commit-foreign";
import { emptyTail } from "@reeve/log/log";
import { memoryRunLog } from "@reeve/log/memory-log";
import { MemoryWorkQueue } from "@reeve/log/memory-queue";
import { describe, expect, test } from "vitest";
import { decideApproval } from "./decide-approval.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_abcdefgh" };
const approvalId = `${key.run}-3-0`;
const ada = { tenant: key.tenant, subject: "ada" };

/** A run that is parked with a pending approval. */
async function parked(allowEditedArguments = false) {
  const log = memoryRunLog();
  const dispatch = new MemoryWorkQueue<Dispatch>();
  const approval = {
    approvalId,
    runId: key.run,
    state: ApprovalState.PENDING,
    allowEditedArguments,
  };
  const happenings: readonly ForeignFact[] = [
    { case: "runCreated", value: { tenant: key.tenant } },
    { case: "approval", value: { approval } },
    { case: "runParked", value: { waitingFor: [approvalId] } },
  ];
  const events = happenings.map((event, index) =>
    create(RunEventSchema, { runId: key.run, sequence: index + 1, event }),
  );
  await log.append(key, emptyTail, events, never);
  return { log, dispatch };
}

const request = (approved: boolean, decisionId = "", more = {}) =>
  create(DecideApprovalRequestSchema, { approvalId, approved, decisionId, ...more });

describe("a decision", () => {
  test("is a fact in the log of its run, and wakes the run once", async () => {
    const { log, dispatch } = await parked();
    const decided = await decideApproval({ log, dispatch }, ada, request(true), never);
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { decidedBy: "ada" },
    });
    const { events } = await log.read(key, emptyTail, never);
    expect(events.at(-1)?.event).toMatchObject({ case: "approval", value: { approval: decided } });
    expect(dispatch.length).toBe(1);
  });

  test("wins alone, however many decide at once", async () => {
    const { log, dispatch } = await parked();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        decideApproval({ log, dispatch }, ada, request(index % 2 === 0, `d${index}`), never),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const lost = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(lost).toEqual(lost.map(() => expect.objectContaining({ kind: "precondition" })));
    const { events } = await log.read(key, emptyTail, never);
    expect(events.filter(({ event }) => event.case === "approval")).toHaveLength(2);
  });

  test("that is repeated with its id is answered as the first time", async () => {
    const { log, dispatch } = await parked();
    const first = await decideApproval({ log, dispatch }, ada, request(false, "d1"), never);
    expect(await decideApproval({ log, dispatch }, ada, request(false, "d1"), never)).toEqual(
      first,
    );
    const other = decideApproval({ log, dispatch }, ada, request(true, "d1"), never);
    await expect(other).rejects.toThrow("it was rejected by ada");
  });

  test("may change the arguments only where the agent permits it", async () => {
    const edited = { editedArguments: { path: "b" } };
    const strict = decideApproval(await parked(), ada, request(true, "", edited), never);
    await expect(strict).rejects.toMatchObject({ kind: "precondition" });
    const decided = await decideApproval(await parked(true), ada, request(true, "", edited), never);
    expect(decided.decision?.editedArguments).toEqual({ path: "b" });
  });

  test("is too late once the run has ended", async () => {
    const { log, dispatch } = await parked();
    const { tail } = await log.read(key, emptyTail, never);
    const status = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
    const end = create(RunEventSchema, {
      runId: key.run,
      sequence: tail.sequence + 1,
      event: status,
    });
    await log.append(key, tail, [end], never);
    const late = decideApproval({ log, dispatch }, ada, request(true), never);
    await expect(late).rejects.toThrow("its run has ended");
  });

  test.each(["nonsense", "run_abcdefgh-9-9", "run_other123-3-0"])(
    "on %s finds nothing",
    async (id) => {
      const stranger = create(DecideApprovalRequestSchema, { approvalId: id, approved: true });
      const lost = decideApproval(await parked(), ada, stranger, never);
      await expect(lost).rejects.toMatchObject({ kind: "not_found" });
    },
  );

  test("of another tenant finds nothing", async () => {
    const lost = decideApproval(await parked(), { ...ada, tenant: "other" }, request(true), never);
    await expect(lost).rejects.toMatchObject({ kind: "not_found" });
  });
});
