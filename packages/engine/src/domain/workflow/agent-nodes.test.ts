import { ApprovalState } from "@reeve/contracts/approval";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { allPhases } from "../../../test/support/plugins/memory-plugins.ts";
import type { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import {
  answerOf,
  ends,
  errorOf,
  openNodes,
  workflowRun,
} from "../../../test/support/workflow/workflow-run.ts";
import { nextEffects } from "../next-effects.ts";
import { phaseName } from "../plugins/hook-points.ts";

const input = { type: "input" };
const output = { type: "output" };
const search = { type: "tool:search" };

/** Expects an end in order, and returns how the run ended. */
function endOf(run: PlayedRun): string | undefined {
  expectOrder(run.events);
  return run.end;
}

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

  test("end when the workflow that called them fails, and withdraw what waits", () => {
    const waiting = graph({
      ask: { type: "approval", properties: { question: "?" } },
      wait: { type: "delay", properties: { seconds: 9_000 } },
    });
    const outer = graph(
      { in: input, sub: { type: "workflow:inner" }, a: search },
      "in -> sub.input",
      "in -> a.q",
    );
    const run = ends(workflowRun(outer, { inner: waiting }), "a", { content: "no", isError: true });
    expect([endOf(run), errorOf(run)]).toEqual(["error", `node "a" failed: no`]);
    expect(run.all("approval").at(-1)?.approval?.state).toBe(ApprovalState.WITHDRAWN);
  });

  test("end when the budgets of their own agent are used up", () => {
    const inner = graph({ in: input, a: search, b: search }, "in -> a.q", "a -> b.q");
    const outer = graph({ in: input, sub: { type: "workflow:inner" } }, "in -> sub.input");
    const run = workflowRun(outer, { inner, innerBudgets: { maxTotalBytes: 1_000 } });
    ends(run, "a", { content: "x".repeat(2_000) });
    expect(run.all("toolCall").map(({ nodeId }) => nodeId)).toEqual(["sub", "a"]);
    expect([endOf(run), errorOf(run)]).toEqual([
      "error",
      expect.stringContaining("may use 1000 bytes"),
    ]);
  });
});

test("an agent with a model calls a workflow as it calls any other agent", () => {
  const inner = graph({ in: input, a: search, out: output }, "in -> a.q", "a -> out");
  const run = workflowRun(undefined, { inner });
  expect(run.all("workflowPrepared")).toMatchObject([{ own: false, delegateIds: ["inner"] }]);
  run.turn({ name: "agent_run_inner", args: { prompt: "tea" } });
  expect(openNodes(run, run.subtasks[0])).toEqual(["a"]);
  ends(run, "a", { content: "green" });
  expect(run.resultsSeen()).toEqual(["green"]);
  run.says("Green tea.").turn();
  expect([endOf(run), answerOf(run)]).toEqual(["completed", "Green tea."]);
});

test("hooks of plugins are called for the calls of nodes, and at the end of the step", () => {
  const pluginDescriptor = { id: "guard", version: "1", phases: [...allPhases] };
  const plugin = { pluginDescriptor, digest: "d" };
  const asking = { type: "approval", properties: { question: "?" } };
  const steps = graph(
    { in: input, a: search, ask: asking, b: search },
    "in -> a.q",
    "a -> ask",
    "ask.approved -> b.q",
  );
  const run = workflowRun(steps, {}, "go", [{ plugin }]);
  const called: string[] = [];
  while (run.end === undefined) {
    const [effect] = nextEffects(run.state);
    if (effect === undefined) run.decides(ApprovalState.APPROVED);
    else if (effect.kind === "run_hook") {
      const { phase = HookPhase.UNSPECIFIED, call } = effect.due.point ?? {};
      called.push(`${phaseName(phase)} ${call?.call.nodeId ?? ""}`.trim());
      run.hookEnds(effect);
    } else if (effect.kind === "call_tool") ends(run, effect.call.call.nodeId, { content: "x" });
  }
  expect([endOf(run), called]).toEqual([
    "completed",
    [
      "activate",
      "run_start",
      "tool_gate a",
      "before_tool a",
      "after_tool a",
      "tool_gate ask",
      "tool_gate b",
      "before_tool b",
      "after_tool b",
      "step_end",
      "run_end",
    ],
  ]);
});
