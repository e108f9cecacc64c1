import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { approvalIn } from "../../../test/support/reviewed-run.ts";
import { WorkerBench } from "../../../test/support/worker-bench.ts";
import type { ModelPart, ModelProvider } from "../../ports/model-provider.ts";

const rubric = "Is the call harmless?";

/** Models that review as their names say. Those of `b` call `count`. */
function models() {
  const reviewers: string[] = [];
  const provider: ModelProvider = {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ instructions, messages, model: { upstreamName: model } }) {
      const turn = (name?: string, argumentsText = ""): ModelPart => {
        const calls = name === undefined ? [] : [{ name, providerCallId: "p", argumentsText }];
        const rest = { messageJson: "{}", finishReason: "stop", usage: undefined, model };
        return { kind: "turn", turn: { ...rest, calls } };
      };
      if (instructions.includes(rubric)) {
        reviewers.push(model);
        yield { kind: "text", text: JSON.stringify({ advice: model, reason: "r" }) };
        yield turn();
      } else if (messages.some(({ role }) => role === "tool")) {
        yield { kind: "text", text: "ok" };
        yield turn();
      } else if (instructions.includes("You are b")) {
        yield turn("count", '{"to":9}');
      } else {
        yield turn("agent_run_b", '{"prompt":"p"}');
      }
    },
  };
  return { reviewers, provider };
}

async function run(model: string, hasPolicy: boolean) {
  const { reviewers, provider } = models();
  const bench = new WorkerBench(provider);
  const approvalPolicy = { reviewer: { rubric, votes: { classes: ["safe"] } } };
  const b = {
    id: "b",
    name: "b",
    model: "test:approve",
    instructions: "You are b",
    hitlTools: ["count"],
    ...(hasPolicy && { approvalPolicy }),
  };
  const delegates = [{ agentId: "b", revision: 1, spec: b }];
  const spec = { model: `test:${model}`, delegates: ["b"], approvalPolicy };
  await bench.create(spec, { startedBy: "ann", delegates });
  await bench.drive("w");
  return { reviewers, state: (await approvalIn(bench))?.state, executed: bench.executed.length };
}

// Requirement: HITL-1
test("the model of a delegate does not review its calls, that of the agent of the run does", async () => {
  const { reviewers, state, executed } = await run("reject", true);
  expect(reviewers).toEqual(["reject"]);
  expect(state).toBe(ApprovalState.REJECTED);
  expect(executed).toBe(0);
});

test("a model approves no call of a delegate whose spec does not say so", async () => {
  const without = await run("approve", false);
  expect(without).toEqual({ reviewers: ["approve"], state: ApprovalState.PENDING, executed: 0 });
  const same = await run("approve", true);
  expect(same).toMatchObject({ state: ApprovalState.APPROVED, executed: 1 });
});
