import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState, DecisionSchema } from "@reeve/contracts/approval";
import { AnswerAction, QuestionSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { scopeOf } from "../../state/frame.ts";
import { nextEffects, openWaits } from "../../next-effects.ts";
import { answerOf, requestAnswer } from "./questions.ts";
import { PlayedRun } from "../../../../test/support/run-player.ts";

const { APPROVED, PENDING, REJECTED, TIMED_OUT, WITHDRAWN } = ApprovalState;

/** Returns a run whose tool has asked a question. */
function asking(spec: ConstructorParameters<typeof PlayedRun>[0] = {}): PlayedRun {
  const run = new PlayedRun(spec).turn({ name: "search" });
  return ask(run, "q1-1");
}

function ask(run: PlayedRun, questionId: string): PlayedRun {
  const frame = run.frame();
  const [call] = frame.calls;
  if (call === undefined) throw new Error("there is no call");
  const question = create(QuestionSchema, { questionId, message: "which?", askedBy: "mcp:x" });
  const facts = requestAnswer(run.state, call, question, scopeOf(frame), run.nowMs);
  return facts.length === 0 ? run : run.append(facts);
}

function decide(run: PlayedRun, state: ApprovalState, answer?: JsonObject): PlayedRun {
  const approval = run.all("approval").at(-1)?.approval;
  if (approval === undefined) throw new Error("the call has no question");
  const decision = create(DecisionSchema, { ...(answer && { answer }) });
  return run.write({ case: "approval", value: { approval: { ...approval, state, decision } } });
}

const states = (run: PlayedRun) => run.all("approval").map(({ approval }) => approval?.state);
const effects = (run: PlayedRun) => nextEffects(run.state).map(({ kind }) => kind);

/** Returns how long a question can be answered if approvals expire after `timeout`. */
function givenSeconds(seconds: bigint): number {
  const run = asking({ approvalPolicy: { timeout: { seconds } } });
  const { requestedAt, expiresAt } = run.all("approval")[0]?.approval ?? {};
  return Number((expiresAt?.seconds ?? 0n) - (requestedAt?.seconds ?? 0n));
}

describe("a question of a tool call in progress", () => {
  test("is an approval with the question, its run, and its expiry", () => {
    const run = asking();
    const approval = run.all("approval")[0]?.approval;
    expect(approval).toMatchObject({
      approvalId: `${run.frame().calls[0]?.call.callId}-q1-1`,
      state: PENDING,
      question: { message: "which?", askedBy: "mcp:x" },
      call: { name: "search" },
    });
    const { requestedAt, expiresAt } = approval ?? {};
    if (requestedAt === undefined || expiresAt === undefined) throw new Error("it has no times");
    expect(timestampMs(expiresAt) - timestampMs(requestedAt)).toBe(600_000);
  });

  test("expires like the approvals of its agent, if that is before the server stops waiting", () => {
    expect(givenSeconds(60n)).toBe(60);
    expect(givenSeconds(86_400n)).toBe(1_500);
  });

  test("is requested once, however often the journal is read", () => {
    expect(states(ask(asking(), "q1-1"))).toEqual([PENDING]);
    expect(states(ask(asking(), "q1-2"))).toEqual([PENDING, PENDING]);
  });

  test("does not stop the call, and prevents a park", () => {
    const run = asking();
    expect(effects(run)).toEqual(["call_tool"]);
    expect(openWaits(run.state)).toEqual([]);
  });

  test.each([
    [APPROVED, AnswerAction.ACCEPT, { dish: "soup" }],
    [REJECTED, AnswerAction.DECLINE, undefined],
    [TIMED_OUT, AnswerAction.CANCEL, undefined],
  ])("that ends as %s is answered to the call", (state, action, content) => {
    const run = decide(asking(), state, content);
    expect(effects(run)).toEqual(["call_tool", "answer_question"]);
    const approval = run.all("approval").at(-1)?.approval;
    if (approval === undefined) throw new Error("the call has no question");
    const answer = answerOf(approval);
    expect([answer.action, answer.content]).toEqual([action, content]);
    expect(effects(run.result(0))).not.toContain("answer_question");
  });

  test("is withdrawn right before the result of a call that has ended without it", () => {
    const run = asking().result(0);
    expect(states(run)).toEqual([PENDING, WITHDRAWN]);
    const kinds = run.events.map(({ event }) => event.case);
    expect(kinds.indexOf("toolResult") - kinds.lastIndexOf("approval")).toBe(1);
  });

  test("that was answered is not withdrawn", () => {
    expect(states(decide(asking(), APPROVED, {}).result(0))).toEqual([PENDING, APPROVED]);
  });

  test("does not count as working time of its run", () => {
    const run = asking({ budgets: { maxWallClock: { seconds: 60n } } });
    run.nowMs += 500_000;
    decide(run, APPROVED, {});
    run.nowMs += 1_000;
    run.result(0);
    expect(run.clientTrace.at(-1)).toBe("step:started");
  });
});
