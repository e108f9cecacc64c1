import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { approvalIn, two, voteAs } from "../../../test/support/reviewed-run.ts";
import { resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";
import type { ModelPart, ModelProvider } from "../../ports/model-provider.ts";

const rubric = "Is the task harmless?";
const calls = {
  agent_run_b: { prompt: "p" },
  run_subtask: { title: "part", instructions: "do a part" },
};

/** A model that calls a tool once, and approves every call that it reviews. */
function callingOnce(name: keyof typeof calls): ModelProvider {
  const turnWith = (requested: readonly string[]): ModelPart => ({
    kind: "turn",
    turn: {
      messageJson: "{}",
      finishReason: "stop",
      calls: requested.map((tool) => ({
        name: tool,
        providerCallId: "p",
        argumentsText: JSON.stringify(calls[name]),
      })),
      usage: undefined,
      model: "judge",
    },
  });
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ instructions, messages }) {
      const isReview = instructions.includes(rubric);
      const isFirst = messages.every((each) => each.role === "user" && each.text === "go");
      if (isFirst && !isReview) {
        yield turnWith([name]);
        return;
      }
      yield { kind: "text", text: isReview ? '{"advice":"approve","reason":"r"}' : "WORKED" };
      yield turnWith([]);
    },
  };
}

const created = {
  input: "go",
  startedBy: "ann",
  hasPolicy: true,
  delegates: [{ agentId: "b", revision: 1, spec: { id: "b", name: "b", model: "test:x" } }],
};
const empty = parsePolicyFile("rules: []", "policy.yaml");
const permission = (tool: string, behavior: string) =>
  `rules: [{ name: later, permission: { rules: [{ tool: ${tool}, behavior: ${behavior} }] } }]`;

// Requirement: HITL-2
test.each([
  ["agent_run_b", "tools", "rules: [{ name: later, deny: { tools: [agent_run_b] } }]"],
  ["agent_run_b", "permission rules", permission("agent_run_b", "deny")],
  ["run_subtask", "tools", "rules: [{ name: later, deny: { tools: ['*'] } }]"],
] as const)(
  "a call of %s that was approved does not start if the operator's %s deny it since then",
  async (tool, _, later) => {
    const bench = new WorkerBench(callingOnce(tool));
    bench.policy = empty;
    await bench.create({ delegates: ["b"], hitlTools: [tool] }, created);
    await bench.drive("w");
    bench.policy = parsePolicyFile(later, "policy.yaml");
    await bench.decide(ApprovalState.APPROVED);
    await bench.drive("w2", 2);
    const results = await resultsOf(bench);
    expect(results).toHaveLength(1);
    expect(JSON.stringify(results)).toContain("later");
    const events = await bench.events();
    expect(events.some(({ event }) => event.case === "subtask")).toBe(false);
  },
);

// Requirement: HITL-2
test.each(["agent_run_b", "run_subtask"] as const)(
  "a call of %s that a model voted for does not start if the operator asks a person since then",
  async (tool) => {
    const bench = new WorkerBench(callingOnce(tool));
    bench.policy = empty;
    const approvalPolicy = {
      alternatives: [{ ...two, reviewer: true }],
      reviewer: { rubric, votes: { classes: ["subagent"] } },
    };
    await bench.create({ delegates: ["b"], hitlTools: [tool], approvalPolicy }, created);
    await bench.drive("w");
    expect((await approvalIn(bench))?.review?.votes).toBe(true);
    bench.policy = parsePolicyFile(permission(tool, "ask"), "policy.yaml");
    await voteAs(bench, "bob");
    await bench.drive("w2", 2);
    expect((await approvalIn(bench))?.state).toBe(ApprovalState.APPROVED);
    expect(JSON.stringify(await resultsOf(bench))).toContain("a model voted for this call");
    const events = await bench.events();
    expect(events.some(({ event }) => event.case === "subtask")).toBe(false);
  },
);
