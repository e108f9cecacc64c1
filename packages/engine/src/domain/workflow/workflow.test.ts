import type { JsonObject } from "@bufbuild/protobuf";
import { ApprovalState, GateKind } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import type { PlayedRun } from "../../../test/support/run-player.ts";
import {
  answerOf,
  ends,
  errorOf,
  openNodes,
  workflowRun,
} from "../../../test/support/workflow/workflow-run.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import { nextEffects } from "../next-effects.ts";
import { timerDueMs, withoutFarTimers } from "../plugins/pending-timers.ts";

const input = { type: "input" };
const output = { type: "output" };
const search = { type: "tool:search" };
const continuing = { type: "tool:search", properties: { on_error: "continue" } };

/** A map of a search over a list. */
const mapping = (properties: JsonObject = {}) =>
  graph(
    {
      in: { type: "input", properties: { schema: { type: "array" } } },
      each: { type: "map", properties: { node_type: "tool:search", ...properties } },
      out: output,
    },
    "in -> each.items",
    "each -> out",
  );

/** Expects an end in order, and returns how the run ended. */
function endOf(run: PlayedRun): string | undefined {
  expectOrder(run.events);
  return run.end;
}

// Requirement: WF-2
describe("a workflow", () => {
  test("calls a node as soon as its inputs are known, and answers with its output", () => {
    const steps = graph(
      { in: input, a: search, b: search, out: output },
      "in -> a.q",
      "a -> b.q",
      "b -> out",
    );
    const run = workflowRun(steps, {}, "paris");
    expect(openNodes(run)).toEqual(["a"]);
    ends(run, "a", { content: "found a" });
    expect(openNodes(run)).toEqual(["b"]);
    ends(run, "b", { content: "found b" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "found b"]);
    expect(run.all("toolCall")).toMatchObject([
      { callId: "run_test-5-1000", nodeId: "a", arguments: { q: "paris" } },
      { callId: "run_test-5-2000", nodeId: "b", arguments: { q: "found a" } },
    ]);
    expect(run.all("treeStored")[0]?.tree?.nodes.map(({ nodeId }) => nodeId)).toEqual(["a", "b"]);
    expect(run.all("modelCallStarted")).toEqual([]);
  });

  test("runs branches at the same time, and none waits for another", () => {
    const branches = graph(
      {
        in: input,
        a: search,
        a2: search,
        b: search,
        both: { type: "merge", properties: { mode: "list" } },
        out: output,
      },
      "in -> a.q",
      "a -> a2.q",
      "in -> b.q",
      "a2 -> both",
      "b -> both",
      "both -> out",
    );
    const run = workflowRun(branches);
    expect(openNodes(run)).toEqual(["a", "b"]);
    ends(run, "a", { content: "1" });
    expect(openNodes(run)).toEqual(["b", "a2"]);
    ends(run, "a2", { content: "2" });
    ends(run, "b", { content: "3" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", `["2","3"]`]);
  });

  test("skips the branch that a condition does not take", () => {
    const isUrgent = { type: "condition", properties: { operator: "contains", operand: "urgent" } };
    const choice = graph(
      {
        in: input,
        urgent: isUrgent,
        a: search,
        b: search,
        c: search,
        join: { type: "merge" },
        out: output,
      },
      "in -> urgent",
      "urgent.true -> a.q",
      "urgent.false -> b.q",
      "b -> c.q",
      "a -> join",
      "c -> join",
      "join -> out",
    );
    const run = workflowRun(choice, {}, "urgent: help");
    expect(openNodes(run)).toEqual(["a"]);
    ends(run, "a", { content: "done" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "done"]);
  });

  test("answers with a record when its value is one, and reads parts of records", () => {
    const record = graph({ a: search, b: search, out: output }, "a.result.x.1 -> b.q", "b -> out");
    const run = workflowRun(record);
    ends(run, "a", { structured: { x: [1, { deep: true }] } });
    expect(run.all("toolCall")[1]?.arguments).toEqual({ q: { deep: true } });
    ends(run, "b", { content: `{"n": 1}` });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", `{"n":1}`]);
    expect(run.state.head.structured).toEqual({ n: 1 });
  });

  test("completes without an answer when no output has a value", () => {
    const never = { type: "condition", properties: { operator: "equals", operand: "x" } };
    const none = graph({ in: input, never, out: output }, "in -> never", "never.true -> out");
    const run = workflowRun(none);
    expect([endOf(run), answerOf(run)]).toEqual(["completed", ""]);
  });
});

describe("a node that fails", () => {
  const branches = graph(
    {
      in: input,
      a: search,
      b: search,
      b2: search,
      slow: { type: "delay", properties: { seconds: 60 } },
      out: output,
    },
    "in -> a.q",
    "in -> b.q",
    "b -> b2.q",
    "b2 -> out",
    "in -> slow",
  );

  test("fails the workflow by its name, after the calls in progress have ended", () => {
    const run = workflowRun(branches);
    ends(run, "a", { content: "no network", isError: true });
    expect(openNodes(run)).toEqual(["b"]);
    ends(run, "b", { content: "found" });
    expect([endOf(run), errorOf(run)]).toEqual(["error", `node "a" failed: no network`]);
    expect(run.all("error")[0]?.reason).toBe("node_failed");
    expect(run.lastResult).toBe("found");
  });

  test("passes its error on when it may", () => {
    const handled = graph(
      { in: input, a: continuing, next: search, help: search, out: output },
      "in -> a.q",
      "a.result -> next.q",
      "a.error -> help.q",
      "help -> out",
    );
    const run = workflowRun(handled);
    ends(run, "a", { content: "broken", isError: true });
    expect(openNodes(run)).toEqual(["help"]);
    ends(run, "help", { content: "repaired" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "repaired"]);
  });

  test("fails for a tool that the run does not have, and for a part that a value lacks", () => {
    const missing = graph({ in: input, x: { type: "tool:nothing" } }, "in -> x.q");
    expect(errorOf(workflowRun(missing))).toContain(`there is no tool "nothing"`);
    const lacking = graph({ a: search, b: search }, "a.result.total -> b.q");
    const run = ends(workflowRun(lacking), "a", { structured: { sum: 1 } });
    expect(errorOf(run)).toContain(`the output "result" of node "a" has no part "total"`);
  });

  test("fails when it needs the whole of a result that was cut, and agents read the part", () => {
    const cut = { content: "x\n[99999 bytes in all, kept as artifact art_1]\n", artifact: "art_1" };
    const passing = graph({ a: search, b: search }, "a -> b.q");
    const run = ends(workflowRun(passing), "a", cut);
    expect(errorOf(run)).toBe(
      `node "b" failed: it needs the whole result of node "a", which is too large: artifact art_1 has the whole`,
    );
    const reading = graph({ a: search, b: { type: "agent:finder" } }, "a -> b.prompt");
    expect(openNodes(ends(workflowRun(reading), "a", cut))).toEqual(["b"]);
  });

  test("fails when its inputs are too large for the log", () => {
    const growing = graph({ in: input, a: search }, "in -> a.q");
    const run = workflowRun(growing, {}, "x".repeat(300_000));
    expect(errorOf(run)).toContain("its inputs have 300008 bytes; the limit is 262144");
  });

  test("ends a workflow at its budget of calls", () => {
    const many = graph({ in: input, a: search, b: search }, "in -> a.q", "a -> b.q");
    const run = workflowRun(many, { budgets: { maxToolCalls: 1 } });
    ends(run, "a", { content: "1" });
    expect([endOf(run), run.all("error")[0]?.reason]).toEqual(["error", "budget_exceeded"]);
  });
});

describe("a map", () => {
  test("calls once for each item, no more at a time than it may, and keeps the order", () => {
    const run = workflowRun(mapping({ max_parallel: 2 }), {}, `["a","b","c"]`);
    expect(openNodes(run)).toEqual(["each", "each 1"]);
    ends(run, "each 1", { content: "B" });
    expect(openNodes(run)).toEqual(["each", "each 2"]);
    ends(run, "each 2", { content: "C" });
    ends(run, "each", { content: "A" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", `["A","B","C"]`]);
    expect(run.all("toolCall").map(({ callId }) => callId)).toEqual([
      "run_test-5-1000",
      "run_test-5-1001",
      "run_test-5-1002",
    ]);
  });

  test("fails with an item that fails, or goes on if it may", () => {
    const failing = workflowRun(mapping(), {}, `["a","b"]`);
    ends(failing, "each 1", { content: "no", isError: true });
    ends(failing, "each", { content: "A" });
    expect(errorOf(failing)).toBe(`node "each" failed: item 1: no`);
    const going = workflowRun(mapping({ on_error: "continue" }), {}, `["a","b"]`);
    ends(going, "each 1", { content: "no", isError: true });
    ends(going, "each", { content: "A" });
    expect(answerOf(going)).toBe(`["A",{"error":"no"}]`);
  });

  test("takes no items, and refuses too many", () => {
    expect(answerOf(workflowRun(mapping(), {}, "[]"))).toBe("[]");
    const run = workflowRun(mapping({ max_items: 2 }), {}, "[1,2,3]");
    expect(errorOf(run)).toContain("its list has 3 items; the limit is 2");
  });

  test("takes a long list", () => {
    const items = JSON.stringify(Array.from({ length: 200 }, (_, index) => index));
    const budgets = { maxToolCalls: 300, maxParallel: 100 };
    const run = workflowRun(mapping({ max_items: 200 }), { budgets }, items);
    for (let open = openNodes(run); open.length > 0; open = openNodes(run)) {
      for (const node of open.slice(0, 100)) ends(run, node, { content: "x" });
    }
    expect(run.end).toBe("completed");
  });
});

describe("nodes that wait", () => {
  const asking = graph(
    {
      in: input,
      ask: { type: "approval", properties: { question: "Send it?" } },
      yes: search,
      no: search,
      out: output,
      refused: output,
    },
    "in -> ask",
    "ask.approved.value -> yes.q",
    "ask.rejected.decision -> no.q",
    "yes -> out",
    "no -> refused",
  );

  test("ask a person, and take the branch of the decision", () => {
    const run = workflowRun(asking, {}, "a letter");
    const [requested] = run.all("approval");
    expect(requested?.approval).toMatchObject({
      gates: [GateKind.WORKFLOW],
      call: { nodeId: "ask", arguments: { question: "Send it?", value: "a letter" } },
    });
    run.parks().decides(ApprovalState.APPROVED).claimedAnew();
    expect(run.all("toolCall").at(-1)).toMatchObject({
      nodeId: "yes",
      arguments: { q: "a letter" },
    });
    ends(run, "yes", { content: "sent" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", `{"out":"sent"}`]);
  });

  test.each([
    [ApprovalState.REJECTED, "rejected"],
    [ApprovalState.TIMED_OUT, "timed_out"],
  ])("take the other branch after the state %s", (state, decision) => {
    const run = workflowRun(asking).decides(state);
    expect(run.all("toolCall").at(-1)).toMatchObject({ nodeId: "no", arguments: { q: decision } });
  });

  test("wait for a time that the log has, while the run is parked", () => {
    const later = graph(
      { in: input, wait: { type: "delay", properties: { seconds: 90 } }, out: output },
      "in -> wait",
      "wait -> out",
    );
    const run = workflowRun(later, {}, "tea");
    const calledAtMs = run.frame().calls[0]?.requestedAtMs ?? 0;
    expect(timerDueMs(run.state)).toBe(calledAtMs + 90_000);
    expect(nextEffects(run.state)).toMatchObject([
      { kind: "wait_for_delay", dueAtMs: calledAtMs + 90_000 },
    ]);
    expect(withoutFarTimers(nextEffects(run.state), run.nowMs)).toEqual([]);
    run.claimedAnew();
    expect(timerDueMs(run.state)).toBe(calledAtMs + 90_000);
    ends(run, "wait", { content: "over" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "tea"]);
  });

  test("do not hold up other branches", () => {
    const others = graph(
      { in: input, ask: { type: "approval", properties: { question: "?" } }, a: search, b: search },
      "in -> ask",
      "in -> a.q",
      "a -> b.q",
    );
    const run = workflowRun(others, { budgets: { maxParallel: 1 } });
    ends(run, "a", { content: "1" });
    expect(nextEffects(run.state)).toMatchObject([
      { kind: "call_tool", call: { call: { nodeId: "b" } } },
    ]);
  });

  test("are withdrawn when another node fails", () => {
    const failing = graph(
      { in: input, ask: { type: "approval", properties: { question: "?" } }, a: search },
      "in -> ask",
      "in -> a.q",
    );
    const run = ends(workflowRun(failing), "a", { content: "broken", isError: true });
    expect([endOf(run), errorOf(run)]).toEqual(["error", `node "a" failed: broken`]);
    expect(run.all("approval").at(-1)?.approval?.state).toBe(ApprovalState.WITHDRAWN);
  });
});

describe("nodes with a model", () => {
  test("give an agent its prompt, and pass its whole answer on", () => {
    const asking = graph(
      { in: input, find: { type: "agent:finder" }, out: output },
      "in -> find.prompt",
      "find -> out",
    );
    const run = workflowRun(asking, { budgets: { maxResultBytes: 1_000 } }, "find it");
    const [frame = ""] = run.subtasks;
    expect(run.prompt(frame).at(-1)).toMatchObject({ role: "user", text: "find it" });
    run.says("long ".repeat(500), frame).turnIn(frame);
    expect(answerOf(run)).toBe("long ".repeat(500));
    expect(endOf(run)).toBe("completed");
  });

  test("ask the model of the agent without tools", () => {
    const asking = graph(
      { in: input, say: { type: "model", properties: { instructions: "Be brief." } }, out: output },
      "in -> say.prompt",
      "say -> out",
    );
    const run = workflowRun(asking, {}, "hello");
    const [frame = ""] = run.subtasks;
    expect([...run.frame(frame).tools.keys()]).toEqual([]);
    expect(run.prompt(frame).at(-1)).toMatchObject({ text: "Be brief.\n\nhello" });
    run.says("hi", frame).turnIn(frame);
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "hi"]);
  });

  test("run another workflow, whose record becomes their value", () => {
    const inner = graph({ in: input, a: search, out: output }, "in -> a.q", "a -> out");
    const outer = graph(
      { in: input, sub: { type: "workflow:inner" }, last: search, out: output },
      "in -> sub.input",
      "sub.result.n -> last.q",
      "last -> out",
    );
    const run = workflowRun(outer, { inner }, "x");
    ends(run, "a", { structured: { n: 4 } });
    expect(run.all("toolCall").map(({ nodeId }) => nodeId)).toEqual(["sub", "a", "out", "last"]);
    expect(run.all("toolCall").at(-1)?.arguments).toEqual({ q: 4 });
    ends(run, "last", { content: "four" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "four"]);
  });

  test("fail with a workflow that they run", () => {
    const inner = graph({ in: input, a: search }, "in -> a.q");
    const outer = graph({ in: input, sub: { type: "workflow:inner" } }, "in -> sub.input");
    const run = ends(workflowRun(outer, { inner }), "a", { content: "no", isError: true });
    expect(errorOf(run)).toContain(`node "sub" failed:`);
    expect(errorOf(run)).toContain(`node \\"a\\" failed: no`);
    expect(endOf(run)).toBe("error");
  });
});
