import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { appendExternal } from "@reeve/run/commands/append-external";
import { describe, expect, test } from "vitest";
import type { ModelPart, ModelProvider, ModelRequest, ModelTurn } from "../ports/model-provider.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const usage = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 };
const turn = (more: Partial<ModelTurn> = {}): ModelPart => ({
  kind: "turn",
  turn: { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "test", ...more },
});

/** A provider whose calls are answered one by one by `answer`. */
function provider(
  answer: (request: ModelRequest, call: number) => Promise<readonly ModelPart[]>,
): ModelProvider & { calls: number } {
  return {
    calls: 0,
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream(request) {
      yield* await answer(request, this.calls++);
    },
  };
}

/** Delivers the run until it is acknowledged; not for ever, as its queue would. */
async function deliver(stage: WorkerBench): Promise<void> {
  for (let delivery = 1; delivery < 20; delivery++) {
    if ((await stage.drive(`w${delivery}`)) === "acknowledged") return;
  }
}

async function send(stage: WorkerBench, count: number): Promise<void> {
  const text = "x".repeat(262_144);
  for (let index = 0; index < count; index++) {
    const value = { messageId: `m${index}`, message: { role: Role.USER, text } };
    await appendExternal(stage, key, () => [{ case: "messageSubmitted", value }], never);
  }
}

const reasonsIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "error" ? [event.value.reason] : []));
const idsIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "messageInjected" ? [event.value.messageId] : []));

describe("messages that are together more than a batch", () => {
  test("do not keep a run from its beginning, and are taken up in their order", async () => {
    const model = provider(async () => [turn()]);
    const stage = await new WorkerBench(model).create();
    await send(stage, 5);
    await deliver(stage);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(idsIn(events)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    expect(model.calls).toBe(5);
  });

  // Requirement: EVT-6
  test("are taken up step by step when they come while the model speaks", async () => {
    const model = provider(async (_, call) => {
      if (call === 0) await send(stage, 5);
      return [{ kind: "text", text: "hello" }, turn()];
    });
    const stage = await new WorkerBench(model).create();
    await deliver(stage);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(idsIn(events)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
  });
});

test("an answer that no log can hold is charged, and ends the run after one call of the model", async () => {
  const model = provider(async () => [
    { kind: "text", text: "hello" },
    turn({ messageJson: JSON.stringify({ encrypted: "x".repeat(1_100_000) }) }),
  ]);
  const stage = await new WorkerBench(model).create();
  await deliver(stage);
  const events = await stage.events();
  expectWhole(events, RunStatus.ERROR);
  expect(reasonsIn(events)).toEqual(["too_large"]);
  expect(model.calls).toBe(1);
  const costs = events.flatMap(({ event }) => (event.case === "costSummary" ? [event.value] : []));
  expect(costs).toMatchObject([{ llmCalls: 1, inputTokens: 3, outputTokens: 4 }]);
});

/** A catalog of tools whose descriptions are `bytes` long together. */
function toolsOf(bytes: number) {
  const tools = [0, 1, 2].map((index): MessageInitShape<typeof ToolDescriptorSchema> => ({
    name: `t${index}`,
    permissionClass: PermissionClass.SAFE,
    source: "builtin",
    description: "d".repeat(bytes / 3),
  }));
  return [create(ToolCatalogSchema, { tools, isolation: "none" })];
}

class StageWithTools extends WorkerBench {
  bytes = 0;
  override ports(worker: string) {
    const ports = super.ports(worker);
    return { ...ports, catalogs: () => ({ ...ports.catalogs(), tools: toolsOf(this.bytes) }) };
  }
}

test("a run whose tools no log can hold is ended with the reason", async () => {
  const stage = new StageWithTools(provider(async () => [turn()]));
  await stage.create();
  stage.bytes = 1_200_000;
  await deliver(stage);
  const events = await stage.events();
  expectWhole(events, RunStatus.ERROR);
  expect(reasonsIn(events)).toEqual(["too_large"]);
});

test("what follows from facts, and is with them more than a batch, comes in further ones", async () => {
  const model = provider(async () => [turn()]);
  const stage = new StageWithTools(model);
  await stage.create();
  stage.bytes = 900_000;
  await send(stage, 1);
  await deliver(stage);
  const events = await stage.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(idsIn(events)).toEqual(["m0"]);
  const batches = stage.log.batches.map(({ events }) => events.map(({ event }) => event.case));
  expect(batches[2]).toEqual(["runClaimed", "status", "runPrepared"]);
  expect(batches[3]?.slice(0, 2)).toEqual(["step", "messageInjected"]);
});

test("the calls of a large turn are in the log with their turn, or not at all", async () => {
  const text = JSON.stringify({ text: "x".repeat(200_000) });
  const model = provider(async ({ messages }) => {
    const isAnswered = messages.some(({ role }) => role === "tool");
    const calls = [0, 1, 2].map((index) => ({
      providerCallId: `p${index}`,
      name: "count",
      argumentsText: text,
    }));
    return [turn({ calls: isAnswered ? [] : calls })];
  });
  const stage = await new WorkerBench(model).create();
  await deliver(stage);
  expectWhole(await stage.events(), RunStatus.COMPLETED);
  const kinds = stage.log.batches.map(({ events }) => events.map(({ event }) => event.case));
  const [withCalls, ...others] = kinds.filter((batch) => batch.includes("toolCall"));
  expect(others).toEqual([]);
  expect(withCalls?.slice(0, 5)).toEqual([
    "usage",
    "toolCall",
    "toolCall",
    "toolCall",
    "modelTurn",
  ]);
});

test("a character whose halves come in two parts of a stream is in the log as one", async () => {
  const model = provider(async () => [
    { kind: "text", text: "smile \ud83d" },
    { kind: "text", text: "\ude00 so" },
    { kind: "text", text: " \ud83d" },
    turn(),
  ]);
  const stage = await new WorkerBench(model).create();
  await deliver(stage);
  const texts = (await stage.events()).flatMap(({ event }) =>
    event.case === "text" ? [event.value.text] : [],
  );
  expect(texts.every((text) => text.isWellFormed())).toBe(true);
  expect(texts.join("")).toBe("smile 😀 so ");
});
