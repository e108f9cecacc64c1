import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import {
  AnswerQuestionRequestSchema,
  ApprovalState,
  DecideApprovalRequestSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { QuestionSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { answerQuestion } from "@reeve/run/approvals/answer-question";
import { describe, expect, test } from "vitest";
import type { ParkedStart } from "../../test/support/parked-run.ts";
import { approvalId, noon, parkedRun, runKey } from "../../test/support/parked-run.ts";
import { decideApproval } from "@reeve/run/approvals/decide-approval";

const never = new AbortController().signal;
const ann = { tenant: runKey.tenant, subject: "ann", groups: new Set(["role:runner"]) };
const schema: JsonObject = {
  type: "object",
  properties: { answer: { type: "string", enum: ["soup", "salad"] } },
  required: ["answer"],
};
const question = create(QuestionSchema, { message: "Which dish?", schema, askedBy: "agent" });
const request = (more: Partial<{ answer: JsonObject; declined: boolean; reason: string }> = {}) =>
  create(AnswerQuestionRequestSchema, { approvalId, answer: { answer: "soup" }, ...more });

type Init = Exclude<MessageInitShape<typeof ApprovalSchema>, { readonly $typeName: string }>;

/** A run that ann started, and whose agent asks a question. */
async function asking(more: Init = {}, start: ParkedStart = {}) {
  const call = { callId: approvalId, name: "ask_user" };
  return await parkedRun({ call, question, ...more }, [], { startedBy: "ann", ...start });
}

describe("a question of an agent", () => {
  // Requirement: HITL-4
  test("is answered by the person who started the run, without the role approver", async () => {
    const ports = await asking();
    const answered = await answerQuestion(ports, ann, request(), never);
    expect(answered).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: {
        approved: true,
        decidedBy: "ann",
        decidedAt: timestampFromMs(noon),
        answer: { answer: "soup" },
      },
    });
    const { events } = await ports.log.read(runKey, emptyTail, never);
    expect(events.at(-1)?.event).toMatchObject({ case: "approval", value: { approval: answered } });
  });

  test("is declined with a reason", async () => {
    const declined = create(AnswerQuestionRequestSchema, {
      approvalId,
      declined: true,
      reason: "not hungry",
    });
    const after = await answerQuestion(await asking(), ann, declined, never);
    expect(after).toMatchObject({
      state: ApprovalState.REJECTED,
      decision: { approved: false, reason: "not hungry" },
    });
  });

  test.each([
    ["of a value that is no choice", { answer: { answer: "fish" } }],
    ["of no value", { answer: {} }],
    ["of another type", { answer: { answer: 7 } }],
    ["with a rejection", { declined: true }],
  ])("is not answered with an answer %s", async (_, more) => {
    const refused = answerQuestion(await asking(), ann, request(more), never);
    await expect(refused).rejects.toMatchObject({ kind: "invalid" });
  });

  test("has its whole schema checked, with each pattern", async () => {
    const coded = {
      type: "object",
      properties: { code: { type: "string", pattern: "^[A-Z]{3}$" } },
      required: ["code"],
    };
    const of = create(QuestionSchema, { message: "Which code?", schema: coded });
    const given = async (code: string) =>
      await answerQuestion(
        await asking({ question: of }),
        ann,
        request({ answer: { code } }),
        never,
      );
    await expect(given("abc")).rejects.toMatchObject({
      violations: [{ field: "answer.code", reason: "SCHEMA" }],
    });
    expect((await given("ABC")).state).toBe(ApprovalState.APPROVED);
  });

  test("is not answered by somebody else of the tenant", async () => {
    const bob = { ...ann, subject: "bob" };
    await expect(answerQuestion(await asking(), bob, request(), never)).rejects.toMatchObject({
      kind: "denied",
      reason: ErrorReason.PERMISSION_DENIED,
    });
  });

  test("does not exist for another tenant", async () => {
    const stranger = { ...ann, tenant: "other" };
    const refused = answerQuestion(await asking(), stranger, request(), never);
    await expect(refused).rejects.toMatchObject({ kind: "not_found" });
  });

  test("is answered only by those whom its agent names", async () => {
    const ofDesk = {
      alternatives: [{ name: "answer", groups: ["desk"], approvals: 1, denials: 1 }],
    };
    const refused = answerQuestion(await asking(ofDesk), ann, request(), never);
    await expect(refused).rejects.toMatchObject({ kind: "denied" });
    const member = { ...ann, groups: new Set(["desk"]) };
    const answered = await answerQuestion(await asking(ofDesk), member, request(), never);
    expect(answered.state).toBe(ApprovalState.APPROVED);
  });

  test("is answered once, and the second learns that it is closed", async () => {
    const ports = await asking();
    const outcomes = await Promise.allSettled(
      ["soup", "salad"].map((dish) =>
        answerQuestion(ports, ann, request({ answer: { answer: dish } }), never),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { reason: ErrorReason.APPROVAL_CLOSED },
    });
  });
});

const decides = (approved: boolean) =>
  create(DecideApprovalRequestSchema, {
    approvalId,
    approved,
    ...(approved ? { answer: { answer: "soup" } } : { reason: "recall all, and repeat it" }),
  });

describe("a question of an agent with private data of its user", () => {
  const memory = { memoryEnabled: true };

  test.each([
    [true, memory],
    [false, memory],
    [true, { collectionsRestricted: true }],
  ])("is not decided by an approver (approved: %s, %j)", async (approved, data) => {
    const ports = await asking({}, data);
    const bob = { tenant: runKey.tenant, subject: "bob", groups: new Set(["role:approver"]) };
    await expect(decideApproval(ports, bob, decides(approved), never)).rejects.toMatchObject({
      kind: "denied",
      message: `run run_abcdefgh has private data of its user, ann; nobody else may answer ${approvalId}, or decline to`,
    });
    expect((await ports.log.read(runKey, emptyTail, never)).events).toHaveLength(4);
    expect((await decideApproval(ports, ann, decides(approved), never)).decision).toMatchObject({
      decidedBy: "ann",
    });
  });

  test("is not answered by others who asked for the run", async () => {
    const ports = await asking({}, { ...memory, earlierRequesters: ["bob"] });
    const bob = { ...ann, subject: "bob" };
    await expect(answerQuestion(ports, bob, request(), never)).rejects.toMatchObject({
      kind: "denied",
    });
    expect((await answerQuestion(ports, ann, request(), never)).state).toBe(ApprovalState.APPROVED);
  });

  test("leaves the calls of the run to its approvers", async () => {
    const ports = await parkedRun({ call: { callId: approvalId, name: "pay" } }, [], {
      startedBy: "ann",
      ...memory,
    });
    const approve = create(DecideApprovalRequestSchema, { approvalId, approved: true });
    const bob = { tenant: runKey.tenant, subject: "bob" };
    const decided = await decideApproval(ports, bob, approve, never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
  });
});

test.each([
  ["a call that waits for its approval", { call: { callId: approvalId, name: "pay" } }],
  [
    "a question that a tool asks during its call",
    { question, call: { callId: "run_abcdefgh-9-0", name: "mcp__x__y" } },
  ],
] as const)("the person who started a run does not decide on %s", async (_, approval) => {
  const ports = await parkedRun(approval, [], { startedBy: "ann" });
  const decline = create(AnswerQuestionRequestSchema, { approvalId, declined: true });
  for (const each of [decline, request()]) {
    await expect(answerQuestion(ports, ann, each, never)).rejects.toMatchObject({ kind: "denied" });
  }
});
