import { delegateTool } from "@reeve/agent/delegates/delegate-tool";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import { ends, errorOf } from "../../../test/support/workflow/workflow-run.ts";
import { nextEffects } from "../next-effects.ts";

const inner = graph(
  { in: { type: "input" }, ask: { type: "approval", properties: { question: "?" } } },
  "in -> ask",
);
const search = { name: "search", source: "builtin", inputSchema: { properties: { q: {} } } };

/** A workflow that runs a search beside an agent, which has a tool and another workflow. */
function agentBesideSearch() {
  const workflow = graph(
    { in: { type: "input" }, a: { type: "agent:finder" }, b: { type: "tool:search" } },
    "in -> a.prompt",
    "in -> b.q",
  );
  const ofInner = delegateTool({ id: "inner" });
  const delegates = [
    { agentId: "finder", spec: { id: "finder", model: "f", delegates: ["inner"] } },
    { agentId: "inner", spec: { id: "inner", model: "i", workflow: inner } },
  ];
  const run = new PlayedRun(
    { delegates: ["finder"], workflow },
    {
      tools: [search, delegateTool({ id: "finder" })],
      created: { input: "go", delegates },
      prepared: {
        delegates: [
          { agentId: "finder", model: { id: "f" }, tools: [search, ofInner] },
          { agentId: "inner", model: { id: "i" } },
        ],
      },
    },
  );
  const model = nextEffects(run.state).find(({ kind }) => kind === "call_model");
  return { run, agent: model?.frame ?? "" };
}

/** The search fails, and so the workflow. */
function fail(run: PlayedRun): PlayedRun {
  return ends(run, "b", { content: "broken", isError: true });
}

function expectFailed(run: PlayedRun) {
  expectOrder(run.events);
  expect(run.end).toBe("error");
  expect(errorOf(run)).toBe(`node "b" failed: broken`);
}

// Requirement: WF-2
test("after a workflow has failed, its agent ends its model call, and makes no further calls", () => {
  const { run, agent } = agentBesideSearch();
  fail(run);
  expect(run.end).toBeUndefined();
  run.turnIn(agent, [{ name: "search", args: {} }]);
  expectFailed(run);
  expect(run.all("modelCallStarted")).toHaveLength(1);
  expect(run.all("toolCallStarted")).toHaveLength(1);
});

// Requirement: WF-2
test("after a workflow has failed, its agent ends its tool call, and tries no model again", () => {
  const calling = agentBesideSearch();
  calling.run.turnIn(calling.agent, [{ name: "search", args: {} }]);
  fail(calling.run);
  const [call] = calling.run.frame(calling.agent).calls;
  expect(call?.startedAtMs).toBeDefined();
  ends(calling.run, "", { content: "found" });
  expectFailed(calling.run);
  const { run, agent } = agentBesideSearch();
  run.fails("unavailable", { retryable: true, id: agent });
  fail(run);
  expectFailed(run);
});

// Requirement: WF-2
test("a workflow that an agent of a failed workflow calls ends, and withdraws its approvals", () => {
  const { run, agent } = agentBesideSearch();
  run.turnIn(agent, [{ name: "agent_run_inner", args: { prompt: "x" } }]);
  expect(run.all("approval")).toHaveLength(1);
  fail(run);
  expectFailed(run);
  expect(run.all("approval").at(-1)?.approval?.state).toBe(ApprovalState.WITHDRAWN);
});
