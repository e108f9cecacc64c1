import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AgentSpecSchema,
  ModelSpecSchema,
  ProviderDescriptorSchema,
} from "@reeve/contracts/agent";
import { ProviderDescriptorSchema as DescriptorSchema } from "@reeve/contracts/agent";
import type { RunPrepared } from "@reeve/contracts/run";
import { ChatContextKind, RunStatus } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { approvalsOf, foldHead, emptyHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

/** Creates a model that answers at once, and records its requests. */
function recordingModel(
  descriptor: MessageInitShape<typeof ProviderDescriptorSchema> = {},
): ModelProvider & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    descriptor: create(DescriptorSchema, { name: "test", ...descriptor }),
    format: "test",
    async *stream(request) {
      requests.push(request);
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

const errorOf = async (bench: WorkerBench) => foldHead(emptyHead, await bench.events()).error;

// Requirement: LOOP-5
test("a provider without tool calls is offered none, and the run is one plain turn", async () => {
  const model = recordingModel({ capabilities: { tools: false } });
  const bench = await new WorkerBench(model).create({ instructions: "Be brief." });
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(model.requests).toHaveLength(1);
  expect(model.requests[0]?.tools).toEqual([]);
  // The system prompt does not mention tools that are not offered.
  expect(model.requests[0]?.instructions).toBe("Be brief.");
});

test("a model without tool calls is offered none, even if its provider supports them", async () => {
  const model = recordingModel({ capabilities: { tools: true } });
  const capabilities = { tools: false };
  const models = [{ id: "plain", provider: "test", upstreamName: "x", capabilities }];
  await (await new WorkerBench(model, models).create({ model: "plain" })).drive("w");
  expect(model.requests[0]?.tools).toEqual([]);
});

test("the prompt of an agent with tools says when to answer directly and when to start subtasks", async () => {
  const model = recordingModel();
  await (await new WorkerBench(model).create()).drive("w");
  expect(model.requests[0]?.instructions).toMatch(/Answer directly.*run_subtask.*same time/s);
});

describe("under a limit on cost", () => {
  const capped: MessageInitShape<typeof AgentSpecSchema> = { budgets: { maxCostUsd: 1 } };

  // Requirement: TURN-4
  test("a model without a price is refused before it is called", async () => {
    const model = recordingModel();
    const bench = await new WorkerBench(model).create(capped);
    await bench.drive("w");
    expect(await errorOf(bench)).toMatchObject({
      reason: "resolve_failed",
      message: expect.stringContaining("has no price"),
      cause: "INVALID_AGENT",
    });
    expect(model.requests).toEqual([]);
  });

  test("a model with a built-in price can be used, and the log keeps the price with its source and date", async () => {
    const model = recordingModel({ priceList: "openai" });
    const bench = await new WorkerBench(model).create({
      ...capped,
      model: "test:gpt-5.4-mini",
      maxTokens: 1_000,
    });
    await bench.drive("w");
    const prepared = await preparedBy(bench);
    expect(prepared?.model).toMatchObject({
      upstreamName: "gpt-5.4-mini",
      pricing: { outputUsdPerMillion: 4.5, source: "genai-prices 0.1.8", asOf: "2026-09-23" },
    });
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    const reserved = events.flatMap(({ event }) =>
      event.case === "modelCallStarted" ? [event.value.reservedUsd] : [],
    );
    expect(reserved).toEqual([expect.any(Number)]);
    // An answer of 1,000 tokens costs at least this much.
    expect(reserved[0]).toBeGreaterThan(0.0045);
  });

  test("a model without a limit for its answers is refused as well", async () => {
    const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const models = [{ id: "priced", provider: "test", upstreamName: "x", pricing }];
    const bench = await new WorkerBench(recordingModel(), models).create({
      ...capped,
      model: "priced",
    });
    await bench.drive("w");
    expect((await errorOf(bench))?.message).toContain("the length of an answer");
    const bounded = await new WorkerBench(recordingModel(), models).create({
      ...capped,
      model: "priced",
      maxTokens: 100,
    });
    await bounded.drive("w");
    expectWhole(await bounded.events(), RunStatus.COMPLETED);
  });
});

// Requirement: CFG-7, INJ-1
test("a tool parameter with the name of an injected argument ends the run with both names", async () => {
  const bench = await new WorkerBench(recordingModel()).create({
    injectedToolArgs: { key: "why" },
  });
  await bench.drive("w");
  expect((await errorOf(bench))?.message).toMatch(/"key" is now a parameter of the tool memory_/);
});

// Requirement: PERM-4, CHAT-2
test("without a node registry, the tools of an editor are omitted with a warning", async () => {
  const chatContext = { kind: ChatContextKind.EDITOR, workflowId: "w1" };
  const draw = { name: "draw", permissionClass: PermissionClass.EDITOR_MUTATE };
  const model = recordingModel();
  const bench = new WorkerBench(model).offers(draw);
  await bench.create({ permissionClasses: ["editor_mutate"] }, { chatContext });
  await bench.drive("w");
  const prepared = await preparedBy(bench);
  expect(prepared?.warnings).toEqual([
    expect.stringContaining("no node registry"),
    expect.stringContaining("no node registry"),
  ]);
  const names = prepared?.tools.map(({ name }) => name);
  expect(names).toContain("count");
  expect(names).not.toContain("draw");
  expect(model.requests[0]?.tools.map(({ name }) => name)).not.toContain("draw");
});

describe("a tool that requires an approval", () => {
  const deploy = {
    name: "ops__deploy_service",
    permissionClass: PermissionClass.NETWORK,
    source: "provider:ops",
  };

  // Requirement: HITL-5, CFG-5
  test("requires one under another name of the same source too", async () => {
    const bench = new WorkerBench(countingModel(1, [], deploy.name)).offers(deploy);
    await bench.create({ hitlTools: ["ops__deploy"] });
    await bench.drive("w");
    const prepared = await preparedBy(bench);
    expect(prepared?.gatedTools).toEqual(["ops__deploy_service"]);
    expect(prepared?.warnings).toEqual([
      expect.stringMatching(/provider:ops offers no tool "ops__deploy".*require an approval/),
    ]);
    expect(bench.executed).toEqual([]);
    expect(
      approvalsOf(foldHead(emptyHead, await bench.events())).map(({ call }) => call?.name),
    ).toEqual([deploy.name]);
  });

  test("requires none for another tool that its source has added", async () => {
    const kept = { ...deploy, name: "ops__deploy" };
    const added = { ...deploy, name: "ops__deploy_all" };
    const bench = new WorkerBench(countingModel(1, [], added.name)).offers(kept).offers(added);
    await bench.create({ hitlTools: [kept.name] });
    await bench.drive("w");
    expect(await preparedBy(bench)).toMatchObject({ gatedTools: [], warnings: [] });
    expect(bench.executed).toHaveLength(1);
  });

  test("and that nothing offers ends the run before the model is called", async () => {
    const model = recordingModel();
    const bench = new WorkerBench(model).offers(deploy);
    await bench.create({ hitlTools: ["infra__deploy"] });
    await bench.drive("w");
    expect(await errorOf(bench)).toMatchObject({
      reason: "resolve_failed",
      message: expect.stringContaining('hitl_tools: nothing offers "infra__deploy"'),
    });
    expect(model.requests).toEqual([]);
  });
});

// Requirement: DUR-1, CHAT-3
test("the memories of the user are a note on the input, and its tools are offered, only if memory is enabled", async () => {
  const model = recordingModel();
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
  expect(model.requests[0]?.messages).toEqual([
    { role: "user", text: "go", notes: [expect.stringContaining("always go north")] },
  ]);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("remember");
  await (await new WorkerBench(model).create({}, { startedBy: "ann" })).drive("w");
  expect(model.requests[1]?.messages).toEqual([{ role: "user", text: "go" }]);
  expect(model.requests[1]?.tools.map(({ name }) => name)).not.toContain("remember");
});

test("a run whose thread is read without its turn is given back, with no prompt", async () => {
  const model = recordingModel();
  const bench = await new WorkerBench(model).create({}, { threadId: "sales" });
  expect(await bench.drive("w")).toBe("given back");
  expect(await preparedBy(bench)).toBeUndefined();
  expect(model.requests).toEqual([]);
});

// Requirement: CFG-18
test("a model that a gateway stored, and this worker has not seen, is read before the run is prepared", async () => {
  const model = recordingModel();
  const known: MessageInitShape<typeof ModelSpecSchema>[] = [];
  const bench = await new WorkerBench(model, known).create({ model: "stored" });
  let reads = 0;
  const refreshModels = async () => {
    reads += 1;
    known.push({ id: "stored", provider: "test", upstreamName: "x" });
    return true;
  };
  await bench.drive("w", 1, undefined, 1, { ...bench.ports("w"), ...latest(bench), refreshModels });
  expect(reads).toBe(1);
  expect((await preparedBy(bench))?.model).toMatchObject({ id: "stored" });
});

/** Ports whose catalogs are read anew each time. */
function latest(bench: WorkerBench) {
  return { catalogs: () => bench.ports("w").catalogs() };
}
