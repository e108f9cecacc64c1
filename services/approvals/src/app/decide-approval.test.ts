import type { JsonObject } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState, DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunBatchSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { QuestionSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { describe, expect, test } from "vitest";
import { HastyClock, ManualClock } from "@reeve/platform/test/support/manual-clock";
import { ada, approvalId, noon, parkedRun, runKey } from "../../test/support/parked-run.ts";
import { decideApproval } from "@reeve/run/approvals/decide-approval";

const never = new AbortController().signal;
const request = (approved: boolean, decisionId = "", more = {}) =>
  create(DecideApprovalRequestSchema, { approvalId, approved, decisionId, ...more });

const paying = (amount: number) => request(true, "", { editedArguments: { amount } });

function nested(levels: number): JsonObject {
  return levels === 1 ? { a: 1 } : { a: nested(levels - 1) };
}

/** Approves a call of `list` with edited arguments. */
async function editing(editedArguments: JsonObject) {
  const tools = [{ name: "list", inputSchema: { type: "object" } }];
  const ports = await parkedRun({ allowEditedArguments: true, call: { name: "list" } }, tools);
  const deciding = decideApproval(ports, ada, request(true, "", { editedArguments }), never);
  return { deciding, log: ports.log };
}

describe("a decision", () => {
  // Requirement: HITL-4
  test("is a fact in the log of its run, and wakes the run once", async () => {
    const ports = await parkedRun();
    const decided = await decideApproval(ports, ada, request(true), never);
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { decidedBy: "ada" },
    });
    const { events } = await ports.log.read(runKey, emptyTail, never);
    expect(events.at(-1)?.event).toMatchObject({ case: "approval", value: { approval: decided } });
    expect(ports.dispatch.length).toBe(1);
  });

  test("with arguments to which no alternative of its person applies is refused at once", async () => {
    const tools = [{ name: "pay", inputSchema: { type: "object" } }];
    const small = {
      name: "small",
      people: ["ada"],
      filter: "arguments.amount < 100.0",
      approvals: 1,
      denials: 1,
    };
    const large = { ...small, name: "large", people: ["bob"], filter: "" };
    const approval = {
      allowEditedArguments: true,
      alternatives: [small, large],
      call: { name: "pay", arguments: { amount: 10 } },
    };
    const ports = await parkedRun(approval, tools);
    await expect(decideApproval(ports, ada, paying(1_000), never)).rejects.toMatchObject({
      kind: "precondition",
      message: expect.stringContaining("would not count") as unknown,
      violations: [{ field: "edited_arguments", reason: "NOT_APPLICABLE" }],
    });
    const decided = await decideApproval(ports, ada, paying(50), never);
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      votes: [{ countsFor: ["small"] }],
    });
  });

  test("that names another call than the one that waits is refused, and may be made again", async () => {
    const callDigest = "a".repeat(64);
    const ports = await parkedRun({ callDigest });
    const other = { callDigest: "b".repeat(64) };
    await expect(decideApproval(ports, ada, request(true, "", other), never)).rejects.toMatchObject(
      {
        kind: "precondition",
        reason: ErrorReason.APPROVAL_MISMATCH,
        metadata: { call_digest: callDigest },
      },
    );
    const decided = await decideApproval(ports, ada, request(true, "", { callDigest }), never);
    expect(decided).toMatchObject({ state: ApprovalState.APPROVED, callDigest });
  });

  test("is made once, however many decide concurrently", async () => {
    const ports = await parkedRun();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        decideApproval(ports, ada, request(index % 2 === 0, `d${index}`), never),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const lost = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(lost).toEqual(lost.map(() => expect.objectContaining({ kind: "precondition" })));
    const { events } = await ports.log.read(runKey, emptyTail, never);
    expect(events.filter(({ event }) => event.case === "approval")).toHaveLength(2);
  });

  // Requirement: HITL-7
  test("that is repeated with its id returns the first result", async () => {
    const ports = await parkedRun();
    const first = await decideApproval(ports, ada, request(false, "d1"), never);
    expect(await decideApproval(ports, ada, request(false, "d1"), never)).toEqual(first);
    const other = decideApproval(ports, ada, request(true, "d1"), never);
    await expect(other).rejects.toThrow("it was rejected by ada");
  });

  // Requirement: HITL-8
  test("may edit the arguments only if the agent permits it", async () => {
    const edited = { editedArguments: { path: "b" } };
    const strict = decideApproval(await parkedRun(), ada, request(true, "", edited), never);
    await expect(strict).rejects.toMatchObject({
      kind: "precondition",
      violations: [{ field: "edited_arguments", reason: "NOT_PERMITTED" }],
    });
    const lenient = await parkedRun({ allowEditedArguments: true });
    const decided = await decideApproval(lenient, ada, request(true, "", edited), never);
    expect(decided.decision?.editedArguments).toEqual({ path: "b" });
  });

  test("with arguments that do not match the tool's schema is refused with all violations", async () => {
    const inputSchema = {
      type: "object",
      properties: { path: { type: "string" }, depth: { type: "integer" } },
      required: ["path"],
      additionalProperties: false,
    };
    const ports = await parkedRun({ allowEditedArguments: true, call: { name: "list" } }, [
      { name: "list", inputSchema },
    ]);
    const wrong = { editedArguments: { depth: "deep", colour: "red" } };
    await expect(decideApproval(ports, ada, request(true, "", wrong), never)).rejects.toMatchObject(
      {
        kind: "invalid",
        violations: [
          { field: "edited_arguments", description: "must have required property 'path'" },
          { field: "edited_arguments", description: "unknown argument colour" },
          { field: "edited_arguments.depth", description: "must be integer" },
        ],
      },
    );
    const right = { editedArguments: { path: "a", depth: 2 } };
    const decided = await decideApproval(ports, ada, request(true, "", right), never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
  });

  test("with arguments that are nested too deeply for a log is refused", async () => {
    const refusal = {
      kind: "invalid",
      violations: [{ field: "edited_arguments", reason: "NOT_STORABLE" }],
    };
    for (const levels of [25, 40, 48]) {
      const { deciding } = await editing(nested(levels));
      await expect(deciding).rejects.toMatchObject(refusal);
    }
  });

  test("with arguments at the depth limit leaves a readable log", async () => {
    const { deciding, log } = await editing(nested(24));
    await deciding;
    const { events } = await log.read(runKey, emptyTail, never);
    const stored = toBinary(RunBatchSchema, create(RunBatchSchema, { events: [...events] }));
    expect(fromBinary(RunBatchSchema, stored).events).toEqual(events);
  });

  test("that rejects accepts no edited arguments", async () => {
    const ports = await parkedRun({ allowEditedArguments: true });
    const edited = { editedArguments: { path: "b" } };
    await expect(
      decideApproval(ports, ada, request(false, "", edited), never),
    ).rejects.toMatchObject({ kind: "invalid", violations: [{ field: "edited_arguments" }] });
  });

  test("answers a question only with an answer that matches its schema", async () => {
    const schema = { type: "object", properties: { dish: { type: "string" } }, required: ["dish"] };
    const question = { questionId: "q1-1", message: "which?", schema };
    const asked = () => parkedRun({ question: create(QuestionSchema, question) });
    const answer = { dish: "soup" };
    const given = await decideApproval(await asked(), ada, request(true, "", { answer }), never);
    expect(given).toMatchObject({ state: ApprovalState.APPROVED, decision: { answer } });
    expect(await decideApproval(await asked(), ada, request(false), never)).toMatchObject({
      state: ApprovalState.REJECTED,
    });
    for (const [approved, more, field] of [
      [true, {}, "answer"],
      [true, { answer: { dish: 1 } }, "answer.dish"],
      [false, { answer }, "answer"],
      [true, { answer, editedArguments: {} }, "edited_arguments"],
    ] as const) {
      const refused = decideApproval(await asked(), ada, request(approved, "", more), never);
      await expect(refused).rejects.toMatchObject({ kind: "invalid", violations: [{ field }] });
    }
  });

  test("has no answer for an approval without a question", async () => {
    const given = decideApproval(await parkedRun(), ada, request(true, "", { answer: {} }), never);
    await expect(given).rejects.toThrow("has no question");
  });

  // Requirement: HITL-7
  test("is too late at the expiry time, even before the expiry is in the log", async () => {
    const ports = await parkedRun({ expiresAt: timestampFromMs(noon) });
    await expect(decideApproval(ports, ada, request(true), never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.APPROVAL_CLOSED,
      message: `approval ${approvalId} is closed: it expired at 2026-01-01T12:00:00.000Z`,
    });
    const { events } = await ports.log.read(runKey, emptyTail, never);
    expect(events.at(-1)?.event.case).toBe("runParked");
  });

  test("that was made before the expiry is returned by a repetition after it", async () => {
    const ports = await parkedRun({ expiresAt: timestampFromMs(noon + 1) });
    const first = await decideApproval(ports, ada, request(true, "d1"), never);
    expect(first.decision?.decidedAt && timestampMs(first.decision.decidedAt)).toBe(noon);
    const late = { ...ports, clock: new ManualClock(noon + 60_000) };
    expect(await decideApproval(late, ada, request(true, "d1"), never)).toEqual(first);
  });

  test("is too late once the run has ended", async () => {
    const ports = await parkedRun();
    const { tail } = await ports.log.read(runKey, emptyTail, never);
    const status = { case: "status", value: { status: RunStatus.CANCELLED } } as const;
    const end = create(RunEventSchema, {
      runId: runKey.run,
      sequence: tail.sequence + 1,
      event: status,
    });
    await ports.log.append(runKey, tail, [end], never);
    const late = decideApproval(ports, ada, request(true), never);
    await expect(late).rejects.toThrow("its run has ended");
  });

  test("is too late once the call has withdrawn its question", async () => {
    const ports = await parkedRun({ state: ApprovalState.WITHDRAWN });
    const late = decideApproval(ports, ada, request(true), never);
    await expect(late).rejects.toThrow("its call has ended");
  });

  test.each(["nonsense", "run_abcdefgh-9-9", "run_other123-3-0"])(
    "on %s is not found",
    async (id) => {
      const stranger = create(DecideApprovalRequestSchema, { approvalId: id, approved: true });
      const ports = { ...(await parkedRun()), steadyClock: new HastyClock() };
      const lost = decideApproval(ports, ada, stranger, never);
      await expect(lost).rejects.toMatchObject({ kind: "not_found" });
    },
  );

  test("that is read by a server which lags is made once that has the approval", async () => {
    const ports = await parkedRun();
    const { log } = ports;
    const whole = await log.read(runKey, emptyTail, never);
    let reads = 0;
    const read: typeof log.read = async (...args) => {
      if (++reads > 2) return await log.read(...args);
      const [tail = emptyTail] = whole.batchTails;
      return { events: whole.events.slice(0, 2), tail: { ...tail, sequence: 2 }, batchTails: [] };
    };
    const lagging = {
      ...ports,
      log: { read, append: log.append.bind(log), follow: log.follow.bind(log) },
      steadyClock: new HastyClock(),
    };
    const decided = await decideApproval(lagging, ada, request(true), never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
    expect(reads).toBe(3);
  });

  test("of another tenant is not found", async () => {
    const lost = decideApproval(
      await parkedRun(),
      { ...ada, tenant: "other" },
      request(true),
      never,
    );
    await expect(lost).rejects.toMatchObject({ kind: "not_found" });
  });
});
