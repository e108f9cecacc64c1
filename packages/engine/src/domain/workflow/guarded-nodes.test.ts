import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { GuardAction, GuardTarget } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import { ends, errorOf, workflowRun } from "../../../test/support/workflow/workflow-run.ts";
import { subjectAt } from "../guardrails/guard-subject.ts";
import { phasesOf } from "../guardrails/guards-at.ts";
import { nextEffects } from "../next-effects.ts";

const section = fromJson(ValueSchema, {
  tools: [{ name: "g", tools: ["*finder*"], literals: ["secret"], on: "result", action: "refuse" }],
});
const guards = {
  plugin: {
    pluginDescriptor: { id: "guardrails", phases: phasesOf(new Set(["result"])) },
  },
  guardrails: { sections: [{ section }] },
};
const inner = graph(
  { in: { type: "input" }, s: { type: "tool:search" }, out: { type: "output" } },
  "in -> s.q",
  "s -> out",
);

/** Guards end their look at the result of the agent. */
function checked(run: PlayedRun, action: GuardAction, whole = false): PlayedRun {
  const hook = nextEffects(run.state).find((effect) => effect.kind === "run_hook");
  if (hook === undefined) throw new Error("no guard looks at the result");
  const verdict = { guard: "g", action, target: GuardTarget.RESULT, ...redaction(action) };
  return run.hookEnds(hook, {}, "", [verdict], whole);
}

/** A redaction in the whole answer of the agent, which follows the result among the texts. */
function redaction(action: GuardAction) {
  const redactions = [{ text: 1, start: 4000, end: 5000, label: "key" }];
  return action === GuardAction.REDACT ? { redactions } : {};
}

// Requirement: WF-2, RES-13
test.each([
  [GuardAction.PASS, "x".repeat(5000)],
  [GuardAction.REDACT, `${"x".repeat(4000)}[redacted: key]`],
])(
  "a node reads the whole answer of an agent of which guards have checked the whole",
  (...given) => {
    const [action, answer] = given;
    const steps = graph(
      { in: { type: "input" }, a: { type: "agent:finder" }, b: { type: "tool:search" } },
      "in -> a.prompt",
      "a -> b.q",
    );
    const run = workflowRun(steps, { budgets: { maxResultBytes: 1000 } }, "go", [guards]);
    const model = nextEffects(run.state).find(({ kind }) => kind === "call_model");
    run.says("x".repeat(5000), model?.frame).turnIn(model?.frame ?? "");
    const hook = nextEffects(run.state).find((effect) => effect.kind === "run_hook");
    if (hook?.due.point === undefined) throw new Error("no guard looks at the result");
    expect(subjectAt(run.state, hook.due.point).texts.map((text) => text.length)).toEqual([
      1000, 5000,
    ]);
    checked(run, action, true);
    expect(run.all("toolCall").at(-1)).toMatchObject({ nodeId: "b", arguments: { q: answer } });
  },
);

/** A node reads the long answer of an agent, which guards pass. Beside it runs a node of the given type. */
function passed(other: string, target: string): PlayedRun {
  const steps = graph(
    {
      in: { type: "input" },
      a: { type: "agent:finder" },
      w: { type: other },
      b: { type: "tool:search" },
      out: { type: "output" },
    },
    "in -> a.prompt",
    `in -> w.${target}`,
    "a -> b.q",
    "b -> out",
  );
  const run = workflowRun(steps, { inner, budgets: { maxResultBytes: 1000 } }, "go", [guards]);
  const model = nextEffects(run.state).find(({ kind }) => kind === "call_model");
  run.says("x".repeat(5000), model?.frame).turnIn(model?.frame ?? "");
  return checked(run, GuardAction.PASS);
}

// Requirement: WF-2, RES-13
test.each([
  ["tool:search", "q", "w"],
  // A workflow in progress asks whether the one that called it has failed.
  ["workflow:inner", "input", "s"],
])("a node reads what guards passed of a result, for every worker, beside %s", (...given) => {
  const [other, target, open] = given;
  const run = passed(other, target);
  const next = new PlayedRun({}, {}, run.events).claimedAnew();
  for (const each of [run, next]) {
    expect(each.all("toolCall").map(({ nodeId }) => nodeId)).not.toContain("b");
    ends(each, open, { content: "found" });
    expect(each.end).toBe("error");
    expect(errorOf(each)).toContain('node "b" failed: it needs the whole result of node "a"');
  }
});

// Requirement: WF-2, RES-13
test("only results that guards have not passed yet wait for them, however many there were", () => {
  const steps = graph(
    {
      in: { type: "input", properties: { schema: { type: "array" } } },
      each: { type: "map", properties: { node_type: "agent:finder" } },
    },
    "in -> each.items",
  );
  const run = workflowRun(steps, { budgets: { maxParallel: 2 } }, "[1,2,3]", [guards]);
  const awaited = () => [...(run.state.plugins?.awaitedResults.values() ?? [])];
  for (const node of ["each", "each 1", "each 2"]) {
    ends(run, node, { content: "found" });
    expect(awaited()).toEqual([""]);
    checked(run, GuardAction.PASS);
    expect(awaited()).toEqual([]);
  }
  expect(run.end).toBe("completed");
});

// Requirement: WF-2, RES-13
test("a workflow in progress hears of the failure of its caller only after guards have seen it", () => {
  const asking = graph(
    { in: { type: "input" }, ask: { type: "approval", properties: { question: "?" } } },
    "in -> ask",
  );
  const steps = graph(
    { in: { type: "input" }, a: { type: "agent:finder" }, w: { type: "workflow:inner" } },
    "in -> a.prompt",
    "in -> w.input",
  );
  const run = workflowRun(steps, { inner: asking }, "go", [guards]);
  ends(run, "a", { content: "secret", isError: true });
  expect(run.all("approval")).toHaveLength(1);
  checked(run, GuardAction.REFUSE);
  expect(run.end).toBe("error");
  expect(run.all("approval").at(-1)?.approval?.state).toBe(ApprovalState.WITHDRAWN);
  const refused = run.all("toolResult").slice(1);
  expect(refused).not.toEqual([]);
  for (const { result } of refused) expect(result?.content).not.toContain("secret");
});
