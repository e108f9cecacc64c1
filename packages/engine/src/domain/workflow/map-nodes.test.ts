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
