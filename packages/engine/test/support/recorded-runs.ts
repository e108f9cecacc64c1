import { create } from "@bufbuild/protobuf";
import {
  ApprovalReviewSchema,
  ApprovalState,
  DecisionSchema,
  ReviewAdvice,
} from "@reeve/contracts/approval";
import { ModelCallPurpose, OwnerFate, RunStatus, TodoStatus } from "@reeve/contracts/run";
import { QuestionSchema } from "@reeve/contracts/tool";
import { buildBatch } from "../../src/domain/build-batch.ts";
import { requestAnswer } from "../../src/domain/calls/questions/questions.ts";
import { endRun } from "../../src/domain/end-run.ts";
import { fact, rootScope } from "../../src/domain/state/fact.ts";
import { scopeOf } from "../../src/domain/state/frame.ts";
import { promptTokens } from "../../src/domain/model/prompt-tokens.ts";
import { recordedClientCalls } from "./recorded-client-calls.ts";
import { recordedDelegates } from "./delegating-run.ts";
import { recordedPlugins } from "./plugins/plugged-run.ts";
import { recordedGuards } from "./plugins/recorded-guards.ts";
import type { Setting } from "./played-log.ts";
import { PlayedRun, jobs, subtask } from "./run-player.ts";
import { recordedCancelledMedia, recordedMedia } from "./media-model.ts";
import { recordedContinuation } from "./workflow/recorded-continuation.ts";
import { recordedWorkflow } from "./workflow/recorded-workflow.ts";

/** The runs whose histories are recorded, by name. Every later version has to continue what a version has written. */
export const histories: Readonly<Record<string, () => PlayedRun>> = {
  text: () => new PlayedRun().says("The answer ").says("is 4.").turn(),
  tools: () =>
    new PlayedRun()
      .turn({ name: "search", args: { q: "answer" } })
      .progresses("looking")
      .result(0, "4")
      .turn({ name: "nothing" }, { name: "search", args: "{broken" })
      .says("It is 4.")
      .turn(),
  parallel: () =>
    new PlayedRun(
      { budgets: { maxParallel: 2 } },
      { tools: [{ name: "search" }, { name: "write", exclusiveLock: "disk" }] },
    )
      .turn(
        { name: "search" },
        { name: "write" },
        { name: "search" },
        { name: "write" },
        { name: "search" },
      )
      .result(2, "second")
      .result(0, "first")
      .result(1, "written")
      .result(3, "written")
      .result(4, "last")
      .says("All five.")
      .turn(),
  subtasks,
  planner: () =>
    new PlayedRun({ planningEnabled: true })
      .turn({ name: "search" })
      .result(0, "two ways")
      .says(`{"steps":["look","tell"]}`)
      .turn()
      .says("Done as planned.")
      .turn(),
  compaction,
  "approval-approved": () =>
    new PlayedRun({ hitlTools: ["search"], approvalPolicy: { allowEditedArguments: true } })
      .turn({ name: "search", args: { q: "a" } })
      .parks()
      .decides(ApprovalState.APPROVED, { reason: "fine", edited: { q: "b" } })
      .claimedAnew()
      .result(0, "found b")
      .says("It is b.")
      .turn(),
  "incomplete-answers": () => {
    const run = new PlayedRun({ answerPolicy: { truncated: "continue", maxContinuations: 1 } });
    run.turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run.answers("A 10, ", "length", child).answers("B 2, ", "length", child);
    return run.answers("Twenty-", "length").answers("one", "length");
  },
  "filtered-answer": () => new PlayedRun().answers("I would", "content_filter"),
  "approval-rejected": () =>
    new PlayedRun({ hitlTools: ["search"] })
      .turn({ name: "search" }, { name: "memory_list" })
      .parks()
      .decides(ApprovalState.REJECTED)
      .claimedAnew()
      .says("Then not.")
      .turn(),
  "budget-stop": () =>
    new PlayedRun({ budgets: { maxToolCalls: 2 } })
      .says("Let me look.")
      .turn({ name: "search" })
      .result(0)
      .turn({ name: "search" }, { name: "search" }),
  "taken-over": takenOver,
  delegates: recordedDelegates,
  workflow: recordedWorkflow,
  "continued-workflow": recordedContinuation,
  media: recordedMedia,
  "cancelled-media": recordedCancelledMedia,
  plugins: recordedPlugins,
  guards: recordedGuards,
  retried,
  "fallback-models": fallbackModels,
  counted: () =>
    new PlayedRun(
      { budgetAwareness: "limit:60" },
      {
        created: { input: "word ".repeat(2_000) },
        prepared: {
          model: { id: "m", contextWindow: 4_000 },
          capabilities: { tools: true, countsTokens: true },
        },
      },
    )
      .counts(2_050)
      .says("Many words.")
      .turn(),
  question: () => {
    const run = new PlayedRun().turn({ name: "search" });
    const frame = run.frame();
    const [call] = frame.calls;
    if (call === undefined) throw new Error("there is no call");
    const question = create(QuestionSchema, { questionId: "q1", message: "Which?" });
    run.append(requestAnswer(run.state, call, question, scopeOf(frame), run.nowMs));
    const approval = run.all("approval").at(-1)?.approval;
    const decision = create(DecisionSchema, { approved: true, answer: { one: "b" } });
    if (approval === undefined) throw new Error("the call asks nothing");
    const answered = { ...approval, state: ApprovalState.APPROVED, decision };
    run.write({ case: "approval", value: { approval: answered } });
    return run.result(0, "b is 2").says("It is 2.").turn();
  },
  "ask-user": () =>
    new PlayedRun({ questions: { timeout: { seconds: 60n } } })
      .turn(
        { name: "ask_user", args: { question: "Which?", choices: ["a", "b"] } },
        { name: "ask_user", args: { question: "How many?", answer_schema: { type: "integer" } } },
        { name: "ask_user", args: { question: "Why?" } },
      )
      .parks()
      .decides(ApprovalState.APPROVED, { answer: { answer: "b" }, by: "ann" })
      .claimedAnew()
      .decides(ApprovalState.REJECTED, { by: "ann" })
      .decides(ApprovalState.TIMED_OUT)
      .says("It is b.")
      .turn(),
  "client-tools": recordedClientCalls,
  reviewed: () => {
    const approvalPolicy = { reviewer: { rubric: "Does it search for people?" } };
    const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy }).turn({ name: "search" });
    const approval = run.all("approval")[0]?.approval;
    if (approval === undefined) throw new Error("no approval was requested");
    const review = create(ApprovalReviewSchema, {
      advice: ReviewAdvice.UNSURE,
      reason: "It names nobody.",
      model: "m",
      revision: 1,
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    run.write({ case: "approval", value: { approval: { ...approval, revision: 1, review } } });
    run.parks().decides(ApprovalState.APPROVED, { by: "ann" }).claimedAnew();
    return run.result(0, "nobody").says("Nobody.").turn();
  },
  "provider-failure": () =>
    new PlayedRun()
      .says("Hal")
      .fails("unavailable", { retryable: true })
      .retries()
      .says("Half an ans")
      .fails("unauthenticated"),
  cancel: () => {
    const run = new PlayedRun().turn({ name: "search" }, subtask("a"));
    return run.append([
      fact(rootScope, { case: "cancelRequested", value: { requestedBy: "ann", reason: "enough" } }),
      ...endRun(run.state, RunStatus.CANCELLED, "enough"),
    ]);
  },
  injection: () =>
    new PlayedRun({ injectedToolArgs: { origin: "who calls" }, budgetAwareness: "per-message" })
      .turn({ name: "search", args: { q: "a", origin: "console" } })
      .receivesMessage("and b?")
      .result(0, "a is 1")
      .receivesMessage("and c?")
      .says("a is 1.")
      .turn()
      .says("b and c are 2.")
      .turn(),
  "schema-child": () => {
    const output_schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    };
    const run = new PlayedRun().turn(subtask("count", { output_schema }));
    const [child = ""] = run.subtasks;
    run.says("It is four.", child).turnIn(child);
    run.turnIn(child, [{ name: "finish_subtask", args: { n: "four" } }]);
    run.turnIn(child, [{ name: "finish_subtask", args: { n: 4 } }, { name: "search" }]);
    return run.result(1, "found", child).says("It is 4.").turn();
  },
};

/** A worker that stood still, and one that took the run over from a crashed one while a call reported its progress. */
function takenOver(): PlayedRun {
  const created = { origin: { runId: "run_before", sequence: 7 } };
  const run = new PlayedRun({}, { created }).turn({ name: "search" }).progresses("half");
  const value = { worker: "w2", epoch: 2, dispatchSequence: 1n, attempt: 2 };
  run.write({ case: "runClaimed", value: { ...value, previousOwner: OwnerFate.CRASHED } });
  run.progresses("all").result(0, "found").says("It is");
  run.nowMs += 6_000;
  const scope = scopeOf(run.frame());
  const rest = [fact(scope, { case: "text", value: { text: " there." } })];
  const { events, state } = buildBatch(run.state, rest, run.nowMs, { standstillMs: 5_000 });
  run.events.push(...events);
  run.state = state;
  return run.turn();
}

/** A run that continues one that continued another, with all that it can inherit. */
function retried(): PlayedRun {
  const called = { providerCallId: "p0", name: "search" };
  const turn = { text: "Looking.", calls: [{ ...called, argumentsText: "{}" }] };
  const created: Setting["created"] = {
    origin: { runId: "run_before", sequence: 9 },
    workspaceId: "run_first",
    callOffset: 2_000_000,
    inherited: {
      messages: [
        { message: { case: "user", value: { text: "and b?" } } },
        { message: { case: "assistant", value: turn } },
        { message: { case: "toolResult", value: { ...called, content: "b is 2" } } },
      ],
      plan: ["look", "tell"],
      todos: [{ id: 1, text: "look", status: TodoStatus.IN_PROGRESS }],
      memory: { seen: "a", "task:run_before-4-0": "a is 1" },
      artifactIds: ["art_1"],
      runIds: ["run_first", "run_before"],
      summary: "a is asked for",
      isPlanned: true,
    },
  };
  return new PlayedRun({ planningEnabled: true }, { created })
    .turn(
      { name: "memory_read", args: { key: "task:run_before-4-0" } },
      { name: "complete_todo", args: { id: 1 } },
    )
    .turn({ name: "search" })
    .result(0, "c is 3")
    .says("a is 1, b is 2, c is 3.")
    .turn();
}

/** Models that take over: after the attempts of the first one are used up, and in a subtask at once. */
function fallbackModels(): PlayedRun {
  const retry = {
    maxRetries: 1,
    maxElapsed: { seconds: 60n },
    initialBackoff: { seconds: 1n },
    maxBackoff: { seconds: 8n },
  };
  const fallbacks = ["second", "third"].map((id) => ({
    model: { id, provider: id, contextWindow: 8_000 },
    capabilities: { tools: true },
  }));
  const run = new PlayedRun({}, { prepared: { retry, fallbacks } });
  run.fails("unavailable", { retryable: true }).retries().says("I wi");
  run.fails("rate_limited", { retryable: true }).turn(subtask("a"));
  const [child = ""] = run.subtasks;
  run.fails("unauthenticated", { id: child }).says("a is 1", child).turnIn(child);
  return run.says("It is 1.").turn();
}

/** Nested subtasks, one of which fails, and a lost worker. */
function subtasks(): PlayedRun {
  const run = new PlayedRun({ allowParallelSubagents: true });
  run.turn(subtask("a"), jobs({ task: "b" }, { task: "c", tool_names: [] }));
  const [a = "", b = "", c = ""] = run.subtasks;
  run.turnIn(a, [subtask("d"), { name: "memory_write", args: { key: "seen", value: "a" } }]);
  const d = run.subtasks.at(-1) ?? "";
  run.says("b is", b).claimedAnew();
  run
    .turnIn(d, [{ name: "search" }])
    .result(0, "1", d)
    .says("d is 1", d)
    .turnIn(d);
  run.fails("refused", { id: c }).says("b is 2", b).turnIn(b).says("a is d", a).turnIn(a);
  run.turn(
    { name: "memory_read", args: { key: `task:${b}` } },
    { name: "add_todo", args: { text: "c" } },
  );
  return run.says("All but c.").turn();
}

/** A conversation that is compacted with a summary, and later without one. */
function compaction(): PlayedRun {
  const run = new PlayedRun(
    { budgetAwareness: "limit:50" },
    { prepared: { model: { id: "m", contextWindow: 6_000 } } },
  );
  for (let round = 0; round < 9; round++) {
    if (run.frame().modelCall?.purpose === ModelCallPurpose.SUMMARY) {
      if (round < 6) run.turn();
      else run.fails("invalid");
    }
    const inputTokens = promptTokens(run.state, run.frame());
    run.turnIn("", [{ name: "search" }], { inputTokens }).result(0, "x".repeat(2_400));
  }
  while (run.frame().modelCall?.purpose === ModelCallPurpose.SUMMARY) run.fails("invalid");
  return run.says("Done.").turn();
}
