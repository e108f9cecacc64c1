import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema, ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ProviderDescriptorSchema as DescriptorSchema } from "@reeve/contracts/agent";
import type { RunPrepared } from "@reeve/contracts/run";
import { ChatContextKind, RunStatus } from "@reeve/contracts/run";
import { foldHead, emptyHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

/** A model that answers at once, and keeps what it was asked. */
function attentive(
  descriptor: MessageInitShape<typeof ProviderDescriptorSchema> = {},
): ModelProvider & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    asked,
    descriptor: create(DescriptorSchema, { name: "test", ...descriptor }),
    format: "test",
    async *stream(request) {
      asked.push(request);
      yield { kind: "text", text: "hello" };
      const turn = { messageJson: "{}", finishReason: "stop", calls: [], usage: undefined };
      yield { kind: "turn", turn: { ...turn, model: "test" } };
    },
  };
}

async function preparedBy(bench: WorkerBench): Promise<RunPrepared | undefined> {
  const events = await bench.events();
  const found = events.find(({ event }) => event.case === "runPrepared")?.event;
  return found?.case === "runPrepared" ? found.value : undefined;
}

const why = async (bench: WorkerBench) => foldHead(emptyHead, await bench.events()).error;

// Requirement: LOOP-5
test("a provider that calls no tools is offered none, and the run is one plain turn", async () => {
  const model = attentive({ capabilities: { tools: false } });
  const bench = await new WorkerBench(model).create({ instructions: "Be brief." });
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(model.asked).toHaveLength(1);
  expect(model.asked[0]?.tools).toEqual([]);
  // Nothing is said of tools that there are not.
  expect(model.asked[0]?.instructions).toBe("Be brief.");
});

test("a model that calls no tools is offered none, whatever its provider can", async () => {
  const model = attentive({ capabilities: { tools: true } });
  const capabilities = { tools: false };
  const models = [{ id: "plain", provider: "test", upstreamName: "x", capabilities }];
  await (await new WorkerBench(model, models).create({ model: "plain" })).drive("w");
  expect(model.asked[0]?.tools).toEqual([]);
});

test("an agent with tools is told when to answer by itself and when to have parts done", async () => {
  const model = attentive();
  await (await new WorkerBench(model).create()).drive("w");
  expect(model.asked[0]?.instructions).toMatch(/Answer directly.*run_subtask.*same time/s);
});

describe("under a cap on cost", () => {
  const capped: MessageInitShape<typeof AgentSpecSchema> = { budgets: { maxCostUsd: 1 } };

  // Requirement: TURN-4
  test("a model without a price is refused before it is called", async () => {
    const model = attentive();
    const bench = await new WorkerBench(model).create(capped);
    await bench.drive("w");
    expect(await why(bench)).toMatchObject({
      reason: "resolve_failed",
      message: expect.stringContaining("has no price"),
    });
    expect(model.asked).toEqual([]);
  });

  test("so is one of which nothing says how long its answer may be", async () => {
    const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const models = [{ id: "priced", provider: "test", upstreamName: "x", pricing }];
    const bench = await new WorkerBench(attentive(), models).create({ ...capped, model: "priced" });
    await bench.drive("w");
    expect((await why(bench))?.message).toContain("the length of an answer");
    const bounded = await new WorkerBench(attentive(), models).create({
      ...capped,
      model: "priced",
      maxTokens: 100,
    });
    await bounded.drive("w");
    expectWhole(await bounded.events(), RunStatus.COMPLETED);
  });
});

// Requirement: CFG-7, INJ-1
test("a tool that has got a parameter of the name of an injected argument ends the run with the names of both", async () => {
  const bench = await new WorkerBench(attentive()).create({ injectedToolArgs: { key: "why" } });
  await bench.drive("w");
  expect((await why(bench))?.message).toMatch(/"key" is now a parameter of the tool memory_/);
});

// Requirement: PERM-4, CHAT-2
test("beside an editor without a node registry its tools are left out, and that is said", async () => {
  const chatContext = { kind: ChatContextKind.EDITOR, workflowId: "w1" };
  const bench = await new WorkerBench(attentive()).create({}, { chatContext });
  await bench.drive("w");
  const prepared = await preparedBy(bench);
  expect(prepared?.warnings).toEqual([expect.stringContaining("no node registry")]);
  expect(prepared?.tools.map(({ name }) => name)).not.toContain("build_workflow");
});

// Requirement: DUR-1, CHAT-3
test("what is remembered of the user is a note beside the input, and its tools are there, only where that is wanted", async () => {
  const model = attentive();
  const withMemory = await new WorkerBench(model).create(
    {},
    { memoryEnabled: true, startedBy: "ann" },
  );
  const never = new AbortController().signal;
  await withMemory.memory.remember(
    { tenant: "acme", user: "ann" },
    "always go north",
    { runId: "", requestId: "" },
    never,
  );
  await withMemory.memory.remember(
    { tenant: "acme", user: "bob" },
    "go south",
    { runId: "", requestId: "" },
    never,
  );
  await withMemory.drive("w");
  expect(model.asked[0]?.messages).toEqual([
    { role: "user", text: "go", notes: [expect.stringContaining("always go north")] },
  ]);
  expect(model.asked[0]?.tools.map(({ name }) => name)).toContain("remember");
  await (await new WorkerBench(model).create({}, { startedBy: "ann" })).drive("w");
  expect(model.asked[1]?.messages).toEqual([{ role: "user", text: "go" }]);
  expect(model.asked[1]?.tools.map(({ name }) => name)).not.toContain("remember");
});
