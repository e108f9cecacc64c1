import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { planOfRun } from "@reeve/agent/resolve/recorded-plan";
import { expect, test } from "vitest";
import { expectWhole, resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";
import type { ModelProvider, ModelRequest } from "../../ports/model-provider.ts";

/** A model whose agent asks `finder`, which calls a tool of a toolhost once. */
function delegatingModel(): ModelProvider & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream(request) {
      requests.push(request);
      const isFinder = request.instructions.includes("You find.");
      const hasResult = request.messages.some(({ role }) => role === "tool");
      const name = isFinder ? "count" : "agent_run_finder";
      const call = {
        name,
        providerCallId: "p",
        argumentsText: isFinder ? "{}" : `{"prompt":"find"}`,
      };
      if (hasResult) yield { kind: "text", text: isFinder ? "found 1" : "done" };
      const calls = hasResult ? [] : [call];
      const turn = { messageJson: "{}", finishReason: "stop", calls, usage: undefined, model: "t" };
      yield { kind: "turn", turn };
    },
  };
}

const finder = {
  id: "finder",
  name: "finder",
  model: "test:small",
  instructions: "You find.",
  excludedTools: ["other"],
};

// Requirement: RES-7
test("a worker prepares the delegates of a run, and performs their calls with their models and tools", async () => {
  const model = delegatingModel();
  const bench = new WorkerBench(model);
  bench.offers({ name: "open", permissionClass: PermissionClass.SECRETS, source: "builtin" });
  const delegates = [{ agentId: "finder", revision: 7, spec: finder }];
  await bench.create({ delegates: ["finder"], permissionClasses: ["secrets"] }, { delegates });
  await bench.drive("w");
  const events = await bench.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(await resultsOf(bench)).toEqual(["1", "found 1"]);
  expect(model.requests.map((request) => request.model.upstreamName)).toEqual([
    "x",
    "small",
    "small",
    "x",
  ]);
  const tools = model.requests[1]?.tools.map(({ name }) => name) ?? [];
  expect(tools).toContain("count");
  expect(tools).not.toContain("other");
  expect(tools).not.toContain("open");
  const head = foldHead(emptyHead, events);
  expect(runOf(head)).toMatchObject({ output: "done", cost: { subtasks: 1, llmCalls: 4 } });
  expect(planOfRun(head.prepared)?.delegates).toMatchObject([
    { agentId: "finder", revision: 7, models: [{ role: "executor" }], tools: tools.toSorted() },
  ]);
});

test("a run whose delegate is missing from its start ends with the reason", async () => {
  const bench = await new WorkerBench(delegatingModel()).create({ delegates: ["finder"] });
  await bench.drive("w");
  expect(foldHead(emptyHead, await bench.events()).error).toMatchObject({
    reason: "resolve_failed",
    cause: "AGENT_NOT_FOUND",
  });
});
