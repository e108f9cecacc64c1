import type { JsonObject } from "@bufbuild/protobuf";
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

const output = { type: "output" };

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

const list = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Expects an end in order, and returns how the run ended. */
function endOf(run: PlayedRun): string | undefined {
  expectOrder(run.events);
  return run.end;
}

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
      "run_test-6-1000",
      "run_test-6-1001",
      "run_test-6-1002",
    ]);
  });

  test("fails with an item that fails, or continues if it may", () => {
    const failing = workflowRun(mapping(), {}, `["a","b"]`);
    ends(failing, "each 1", { content: "no", isError: true });
    ends(failing, "each", { content: "A" });
    expect(errorOf(failing)).toBe(`node "each" failed: item 1: no`);
    const continuing = workflowRun(mapping({ on_error: "continue" }), {}, `["a","b"]`);
    ends(continuing, "each 1", { content: "no", isError: true });
    ends(continuing, "each", { content: "A" });
    expect(answerOf(continuing)).toBe(`["A",{"error":"no"}]`);
  });

  test("takes no items, and refuses too many", () => {
    expect(answerOf(workflowRun(mapping(), {}, "[]"))).toBe("[]");
    const run = workflowRun(mapping({ max_items: 2 }), {}, "[1,2,3]");
    expect(errorOf(run)).toContain("its list has 3 items; the limit is 2");
  });

  test("builds no calls before they start, and fails at once with inputs that are too large", () => {
    const properties = { node_type: "agent:finder", max_items: 1000 };
    const each = { type: "map", properties: { ...properties, inputs: { items: list(1000) } } };
    const run = (count: number) =>
      workflowRun(
        graph(
          { in: { type: "input" }, each, out: output },
          ...list(count).map((index) => `in -> each.c${index}`),
          "each -> out",
        ),
        { budgets: { maxParallel: 2 } },
        "x".repeat(250_000),
      );
    expect(openNodes(run(1))).toEqual(["each", "each 1"]);
    expect(errorOf(run(4))).toContain("the limit is 262144");
    expect(errorOf(run(16))).toContain("its inputs are too large");
  });

  test("gives other nodes their turn, and lets approvals and delays start without room", () => {
    const steps = graph(
      {
        in: { type: "input", properties: { schema: { type: "array" } } },
        each: { type: "map", properties: { node_type: "tool:search" } },
        more: { type: "map", properties: { node_type: "tool:search" } },
        ask: { type: "approval", properties: { question: "?" } },
        wait: { type: "delay", properties: { seconds: 5 } },
        b: { type: "tool:search" },
      },
      "in -> each.items",
      "in -> more.items",
      "in -> ask",
      "in -> wait",
      "in -> b.q",
    );
    const run = workflowRun(steps, { budgets: { maxParallel: 1 } }, "[1,2,3]");
    expect(run.all("approval")).toHaveLength(1);
    const started: string[] = [];
    for (;;) {
      const next = openNodes(run).find((node) => node !== "ask" && node !== "wait");
      if (next === undefined) break;
      started.push(next);
      ends(run, next, { content: "r" });
    }
    expect(started).toEqual(["each", "more", "b", "each 1", "more 1", "each 2", "more 2"]);
  });

  test("takes a long list", () => {
    const items = JSON.stringify(list(200));
    const budgets = { maxToolCalls: 300, maxParallel: 100 };
    const run = workflowRun(mapping({ max_items: 200 }), { budgets }, items);
    for (let open = openNodes(run); open.length > 0; open = openNodes(run)) {
      for (const node of open.slice(0, 100)) ends(run, node, { content: "x" });
    }
    expect(run.end).toBe("completed");
  });
});
