import type { PlayedRun } from "../run-player.ts";
import { graph } from "./workflow-graph.ts";
import { playToEnd, workflowRun } from "./workflow-run.ts";

const inner = graph(
  { in: { type: "input" }, look: { type: "tool:search" }, out: { type: "output" } },
  "in -> look.q",
  "look -> out",
);

const whole = graph(
  {
    in: { type: "input", properties: { schema: { type: "array" } } },
    each: { type: "map", properties: { node_type: "tool:search", max_parallel: 2 } },
    find: { type: "agent:finder" },
    check: { type: "condition", properties: { operator: "contains", operand: "answer" } },
    sum: { type: "code", properties: { code: "len(inputs['items'])" } },
    say: { type: "model", properties: { instructions: "Say it." } },
    ask: { type: "approval", properties: { question: "Go on?" } },
    wait: { type: "delay", properties: { seconds: 2 } },
    sub: { type: "workflow:inner" },
    all: { type: "merge", properties: { mode: "object" } },
    out: { type: "output" },
  },
  "in -> each.items",
  "in -> find.prompt",
  "in -> sum.items",
  "in -> say.prompt",
  "each -> ask.value",
  "ask.approved.value -> wait",
  "wait -> sub.input",
  "sub -> all",
  "find -> all",
  "find -> check",
  "sum.result -> all",
  "say -> all",
  "all -> out",
);

/** A workflow with every kind of node that calls something, and with an answer that is cut, up to its end. */
export function recordedWorkflow(): PlayedRun {
  return playToEnd(
    workflowRun(whole, { inner, budgets: { maxResultBytes: 1_000 } }, `["a","b","c"]`),
  );
}
