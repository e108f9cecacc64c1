import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ModelCallPurpose, RunCreatedSchema } from "@reeve/contracts/run";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Setting } from "../../../test/support/played-log.ts";
import { jobs, PlayedRun, subtask } from "../../../test/support/run-player.ts";
import { retryOf } from "./retry-of.ts";

/** Returns the run that continues a run. */
function continued({ events, state }: PlayedRun, setting: Setting = {}): PlayedRun {
  const { created } = state.head;
  if (created === undefined) throw new Error("the run was not created");
  return new PlayedRun(created.spec, { ...setting, created: retryOf(state, created, events) });
}

const oneStep: MessageInitShape<typeof AgentSpecSchema> = { maxRounds: 1 };

test("a run continues a failed one with the same prompt, and repeats no call with a result", () => {
  const failed = new PlayedRun({ maxRounds: 2 });
  failed.turn({ name: "search", args: { q: "a" } }).result(0, "one");
  failed.turn({ name: "search", args: { q: "b" } }).result(0, "two");
  expect(failed.end).toBe("error");
  const run = continued(failed);
  expect(run.prompt()).toMatchObject(failed.prompt());
  expect(run.state.head.origin).toEqual(
    expect.objectContaining({ runId: "run_test", sequence: failed.events.length - 5 }),
  );
  expect(run.turn().end).toBe("completed");
  expect(run.all("toolCall")).toEqual([]);
});

test("a run continues one that continued another, with its own limits", () => {
  const first = new PlayedRun(oneStep).turn({ name: "search" }).result(0, "one");
  const second = continued(first).turn({ name: "search" }).result(0, "two");
  expect(second.end).toBe("error");
  const third = continued(second);
  expect(third.resultsSeen()).toEqual(["one", "two"]);
  expect(third.state.head.created?.inherited?.runIds).toEqual(["run_test", "run_test"]);
  expect(third.turn().end).toBe("completed");
});

test("a run knows who asked for the runs that it continues", () => {
  const sent = { case: "messageSubmitted", value: { messageId: "m", submittedBy: "eve" } } as const;
  const first = new PlayedRun(oneStep, { created: { startedBy: "ann" } }).write(sent);
  first.turn({ name: "search" }).result(0);
  const second = continued(first);
  expect(second.state.head.created?.earlierRequesters).toEqual(["ann", "eve"]);
  second.turn({ name: "search" }).result(0);
  expect(continued(second).state.head.created?.earlierRequesters).toEqual(["ann", "eve"]);
});

test("the answer that failed is asked for again", () => {
  const broken = new PlayedRun().turn({ name: "search" }).result(0).says("I wi").fails("refused");
  expect(broken.end).toBe("error");
  expect(continued(broken).prompt().at(-1)).toMatchObject({ role: "tool", content: "found" });
  const filtered = new PlayedRun().answers("I will", "content_filter");
  expect(filtered.end).toBe("error");
  expect(continued(filtered).prompt()).toEqual([{ role: "user", text: "go" }]);
});

test("the model reads that the outcome of a call without a result is unknown", () => {
  const lost = new PlayedRun().turn({ name: "search" }, { name: "search" }).result(1, "two");
  for (let claim = 0; claim < 101; claim++) lost.claimedAnew();
  expect(lost.end).toBe("error");
  expect(continued(lost).resultsSeen()).toEqual([
    expect.stringContaining("its outcome is unknown"),
    "two",
  ]);
});

test("a message that no step had taken up is read first", () => {
  const failed = new PlayedRun(oneStep).turn({ name: "search" }).receivesMessage("and c");
  failed.result(0);
  expect(failed.end).toBe("error");
  expect(continued(failed).prompt().at(-1)).toMatchObject({ role: "user", text: "and c" });
});

test("plan, todos, and the artifacts with large results are those of the failed run", () => {
  const spec = { planningEnabled: true, maxRounds: 1, deepAgent: { planning: true } };
  const failed = new PlayedRun(spec).says('{"steps":["look"]}').turn();
  failed.turn({ name: "write_todos", args: { todos: [{ text: "look" }] } });
  expect(failed.end).toBe("error");
  const run = continued(failed);
  expect(run.state.plan).toEqual(["look"]);
  expect(run.state.todos).toEqual(failed.state.todos);
  expect(run.prompt()).toMatchObject(failed.prompt());
});

test("results of subtasks can be read, also those of a call whose other subtasks had not ended", () => {
  const failed = new PlayedRun({ allowParallelSubagents: true });
  failed.turn(subtask("a"));
  const [first = ""] = failed.subtasks;
  failed.says("all of a", first).turnIn(first);
  failed.turn(jobs({ task: "b" }, { task: "c" }));
  const [second = ""] = failed.subtasks;
  failed.says("all of b", second).turnIn(second);
  for (let claim = 0; claim < 101; claim++) failed.claimedAnew();
  expect(failed.end).toBe("error");
  const run = continued(failed);
  expect(run.state.memory).toEqual(
    new Map([
      [`task:${first}`, "all of a"],
      [`task:${second}`, "all of b"],
    ]),
  );
  expect(continued(run.fails("refused")).state.memory).toEqual(run.state.memory);
});

test("a whole answer stays when a message followed it and a budget forbade the next answer", () => {
  const failed = new PlayedRun({ budgets: { maxLlmCalls: 1 } });
  failed.receivesMessage("and b?").says("It is a.").turn();
  expect(failed.end).toBe("error");
  expect(continued(failed).prompt()).toMatchObject([
    { role: "user", text: "go" },
    { role: "verbatim", text: "It is a." },
    { role: "user", text: "and b?" },
  ]);
});

test("a call that was never made has a result that says so", () => {
  const failed = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search" });
  for (let claim = 0; claim < 101; claim++) failed.claimedAnew();
  expect(failed.end).toBe("error");
  const [seen = ""] = continued(failed).resultsSeen();
  expect(seen).toContain("before this call was made");
  expect(seen).not.toContain("unknown");
});

test("a run whose planner failed does not plan again, and one that failed while it planned does", () => {
  const planning = { planningEnabled: true };
  const failed = new PlayedRun(planning).fails("refused").fails("refused");
  expect(failed.all("error").map(({ reason }) => reason)).toEqual(["planner_failed", "refused"]);
  const again = continued(failed).turn();
  expect(again.end).toBe("completed");
  const lost = new PlayedRun(planning);
  for (let claim = 0; claim < 101; claim++) lost.claimedAnew();
  expect(continued(lost).says('{"steps":["look"]}').turn().state.plan).toEqual(["look"]);
});

const search = create(ToolDescriptorSchema, { name: "search" });
const small: Setting = { prepared: { model: { id: "m", contextWindow: 4_000 }, tools: [search] } };

/** Plays turns that end with a compaction, and messages of the user at `messages` of them. */
function compacted(messages: readonly number[], setting = small): PlayedRun {
  const run = new PlayedRun({ contextPolicy: {} }, setting);
  run.reportsUsage = false;
  for (let turn = 0; run.frame().compaction === undefined; turn++) {
    if (messages.includes(turn)) run.receivesMessage(`message ${turn}`);
    run.turn({ name: "search" }).result(0, `result ${turn} ${"word ".repeat(250)}`);
    if (run.frame().modelCall?.purpose === ModelCallPurpose.SUMMARY) run.turn();
  }
  return run;
}

function texts(played: PlayedRun): string[] {
  return played.prompt().flatMap((message) => ("text" in message ? [message.text] : []));
}

test.each([[[]], [[0]], [[0, 1]]])(
  "a summary replaces what it did in the failed run, with messages at turns %j",
  (messages) => {
    const failed = compacted(messages).fails("refused");
    const run = continued(failed, small);
    expect(run.resultsSeen()).toEqual(failed.resultsSeen());
    expect(texts(run)).toEqual(expect.arrayContaining(texts(failed)));
    expect(run.frame().compaction?.summary).toBe("what went before");
    const third = continued(run.fails("refused"), small);
    expect(third.prompt()).toEqual(run.prompt());
  },
);

const said = (text: string) =>
  create(HistoryMessageSchema, { message: { case: "user", value: { text } } });

/** A small context, and a thread in which a person said something before. */
function afterTurns(...history: readonly string[]): Setting {
  return { prepared: { ...small.prepared, history: history.map(said) } };
}

test("a summary does not replace the turns of the thread that ended after the failed run", () => {
  const failed = compacted([], afterTurns("old")).fails("refused");
  expect(failed.end).toBe("error");
  // A runtime reads only the turns after that of this run.
  const { created } = failed.state.head;
  const derived = created && retryOf(failed.state, created, failed.events);
  expect(derived?.inherited?.summarizedRunId).toBe("run_test");
  const run = continued(failed, afterTurns("later"));
  expect(texts(run)).toEqual(expect.arrayContaining(["later", "go"]));
  expect(texts(run).join()).toContain("what went before");
  expect(texts(run)).not.toContain("old");
  const third = continued(run.fails("refused"), afterTurns("later", "last"));
  expect(texts(third)).toEqual(expect.arrayContaining(["later", "last", "go"]));
  expect(texts(third).join()).toContain("what went before");
});

test("a call that a budget refused has a result that says that it was not made", () => {
  const failed = new PlayedRun({ budgets: { maxToolCalls: 1 } });
  failed.turn({ name: "search" }).result(0, "one").turn({ name: "search" });
  expect(failed.end).toBe("error");
  expect(failed.all("toolResult").at(-1)?.result?.content).toContain(
    "the run may use 1 tool calls",
  );
  expect(continued(failed).resultsSeen()).toEqual([
    "one",
    expect.stringContaining("before this call was made"),
  ]);
});

test("a subtask that a budget refused has a result that says that it was not made", () => {
  const failed = new PlayedRun({ allowParallelSubagents: true, budgets: { maxSubtasks: 1 } });
  failed.turn(jobs({ task: "a" }, { task: "b" }));
  expect(failed.end).toBe("error");
  expect(continued(failed).resultsSeen()).toEqual([
    expect.stringContaining("before this call was made"),
  ]);
});

test("a large shared memory is cut so that the run can be created", () => {
  const failed = new PlayedRun({ maxRounds: 31 });
  const value = "x".repeat(65_000);
  for (let entry = 0; entry < 30; entry++) {
    failed.turn({ name: "memory_write", args: { key: `k${entry}`, value } });
  }
  failed.turn({ name: "memory_write", args: { key: "short", value: "kept" } });
  expect(failed.end).toBe("error");
  const { created } = failed.state.head;
  if (created === undefined) throw new Error("the run was not created");
  const derived = retryOf(failed.state, created, failed.events);
  expect(toBinary(RunCreatedSchema, derived).length).toBeLessThan(900 * 1024);
  expect(Object.keys(derived.inherited?.memory ?? {})).toHaveLength(31);
  expect(derived.inherited?.memory["short"]).toBe("kept");
  expect(derived.inherited?.memory["k0"]).toContain("[cut: 65000 bytes in all");
  expect(derived.inherited?.messages.length).toBeGreaterThan(30);
});

test("the ids of calls have the number that the run was created with", () => {
  const run = new PlayedRun({}, { created: { callOffset: 5_000_000 } }).turn({ name: "search" });
  const started = run.events.findIndex(({ event }) => event.case === "modelCallStarted");
  expect(run.all("toolCall")).toMatchObject([{ callId: `run_test-${5_000_001 + started}-0` }]);
});

test("a run continues one whose request was refused with notes instead of its files", () => {
  const value = { artifactId: "art_a", name: "p.png", mediaType: "image/png" };
  const part = create(ContentPartSchema, { part: { case: "file", value } });
  const failed = new PlayedRun({}, { created: { parts: [part] } });
  failed.write({ case: "modelCallFailed", value: { reason: "invalid" } });
  const { created } = continued(failed).state.head;
  expect(created?.parts).toMatchObject([
    { part: { case: "text", value: expect.stringContaining("p.png") } },
  ]);
});
