import { ResultExtent } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import type { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import {
  answerOf,
  ends,
  errorOf,
  openNodes,
  workflowRun,
} from "../../../test/support/workflow/workflow-run.ts";

const input = { type: "input" };
const output = { type: "output" };
const search = { type: "tool:search" };
const continuing = { type: "tool:search", properties: { on_error: "continue" } };

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
      { callId: "run_test-6-1000", nodeId: "a", arguments: { q: "paris" } },
      { callId: "run_test-6-2000", nodeId: "b", arguments: { q: "found a" } },
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
    ends(run, "b", { structured: { n: 1 } });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", `{"n":1}`]);
    expect(run.state.head.structured).toEqual({ n: 1 });
  });

  test("keeps a text in JSON as it is, and reads it where its parts are needed", () => {
    const text = `{"id": 12345678901234567890, "of": ["x", "y"]}`;
    const reading = graph(
      {
        a: search,
        b: search,
        c: search,
        each: { type: "map", properties: { node_type: "tool:search" } },
        out: output,
      },
      "a -> b.q",
      "a.result.of.1 -> c.q",
      "a.result.of -> each.items",
      "a -> out",
    );
    const run = ends(workflowRun(reading), "a", { content: text });
    const given = run.all("toolCall").map(({ nodeId, arguments: args }) => [nodeId, args?.["q"]]);
    expect(given.slice(1)).toEqual([
      ["b", text],
      ["c", "y"],
      ["each", "x"],
      ["each", "y"],
    ]);
    for (const node of ["b", "c", "each", "each 1"]) ends(run, node, { content: "ok" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", text]);
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

  test.each([
    ["a cut record without an artifact", { structured: { offloaded: "…" } }, ResultExtent.PART],
    ["a text whose record was dropped", { content: "short" }, ResultExtent.RECORD_DROPPED],
  ])("fails when it needs the whole of %s", (_, result, extent) => {
    const passing = graph({ a: search, b: search }, "a -> b.q");
    const run = ends(workflowRun(passing), "a", { ...result, extent });
    expect(errorOf(run)).toContain(`it needs the whole result of node "a"`);
    const code = { type: "code", properties: { code: "f()" } };
    const computed = graph(
      { a: code, b: search, out: output },
      "a.result -> b.q",
      "a.result -> out",
    );
    expect(errorOf(ends(workflowRun(computed), "a", { ...result, extent }))).toContain(
      `it needs the whole result of node "a"`,
    );
  });

  test("takes a whole result that quotes the note of one that was cut", () => {
    const passing = graph({ a: search, b: search }, "a -> b.q");
    const content = "[99999 bytes in all, kept as artifact art_1]";
    const run = ends(workflowRun(passing), "a", { content, extent: ResultExtent.WHOLE });
    expect(openNodes(run)).toEqual(["b"]);
  });

  test("fails when its inputs are too large for the log", () => {
    const growing = graph({ in: input, a: search }, "in -> a.q");
    const run = workflowRun(growing, {}, "x".repeat(300_000));
    expect(errorOf(run)).toContain("its inputs have 300008 bytes; the limit is 262144");
  });

  test("fails when a value is nested too deeply, wherever it comes from", () => {
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const schema = { type: "array" };
    const typed = graph({ in: { type: "input", properties: { schema } }, a: search }, "in -> a.q");
    expect(errorOf(workflowRun(typed, {}, deep))).toContain("nested more than 24 levels deep");
    const coded = graph(
      { a: { type: "code", properties: { code: "f()" } }, b: search },
      "a.result -> b.q",
    );
    const run = ends(workflowRun(coded), "a", { structured: { result: deep } });
    expect(errorOf(run)).toContain("nested more than 24 levels deep");
  });

  test("fails when joins of joins are too large, without building them", () => {
    const joins = Object.fromEntries(
      Array.from({ length: 24 }, (_, n) => [
        `m${n}`,
        { type: "merge", properties: { mode: "list" } },
      ]),
    );
    const edges = Array.from({ length: 23 }, (_, n) =>
      Array.from({ length: 10 }, () => `m${n} -> m${n + 1}`),
    );
    const growing = graph(
      { in: input, ...joins, a: search },
      "in -> m0",
      ...edges.flat(),
      "m23 -> a.q",
    );
    expect(errorOf(workflowRun(growing))).toContain("more than 1048576 characters");
  });

  test("ends a workflow at its budget of calls", () => {
    const many = graph({ in: input, a: search, b: search }, "in -> a.q", "a -> b.q");
    const run = workflowRun(many, { budgets: { maxToolCalls: 1 } });
    ends(run, "a", { content: "1" });
    expect([endOf(run), run.all("error")[0]?.reason]).toEqual(["error", "budget_exceeded"]);
    expect(run.all("toolCall")).toHaveLength(1);
  });

  test("starts no more calls than may run at the same time, and than its budget permits", () => {
    const nodes = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`s${n}`, search]));
    const wide = graph({ in: input, ...nodes }, ...Object.keys(nodes).map((id) => `in -> ${id}.q`));
    const run = workflowRun(wide, { budgets: { maxParallel: 3, maxToolCalls: 4 } });
    expect(openNodes(run)).toEqual(["s0", "s1", "s2"]);
    ends(ends(run, "s1", { content: "1" }), "s0", { content: "0" });
    expect(run.all("toolCall").map(({ nodeId }) => nodeId)).toEqual(["s0", "s1", "s2", "s3"]);
    expect(run.all("error")[0]?.reason).toBe("budget_exceeded");
  });

  test("does not count the record of its answer as a call", () => {
    const record = graph({ a: search, out: output }, "a -> out");
    const run = workflowRun(record, { budgets: { maxToolCalls: 1 } });
    ends(run, "a", { structured: { n: 1 } });
    expect([endOf(run), run.state.head.structured]).toEqual(["completed", { n: 1 }]);
    expect(run.state.head.spent.toolCalls).toBe(1);
  });
});
