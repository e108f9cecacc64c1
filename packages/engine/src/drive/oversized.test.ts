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
const usage = {
  inputTokens: 3,
  outputTokens: 4,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningTokens: 0,
};
const turn = (more: Partial<ModelTurn> = {}): ModelPart => ({
  kind: "turn",
  turn: { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "test", ...more },
});

/** Creates a provider whose n-th call is answered by `answer`, and which counts its calls. */
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

/** Delivers the run until it is acknowledged, at most 19 times. */
async function deliver(bench: WorkerBench): Promise<void> {
  for (let delivery = 1; delivery < 20; delivery++) {
    if ((await bench.drive(`w${delivery}`)) === "acknowledged") return;
  }
}

async function send(bench: WorkerBench, count: number): Promise<void> {
  const text = "x".repeat(262_144);
  for (let index = 0; index < count; index++) {
    const value = { messageId: `m${index}`, message: { role: Role.USER, text } };
    await appendExternal(bench, key, () => [{ case: "messageSubmitted", value }], never);
  }
}

const reasonsIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "error" ? [event.value.reason] : []));
const idsIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "messageInjected" ? [event.value.messageId] : []));

describe("messages that together exceed a batch", () => {
  test("do not prevent the start of a run, and are injected in their order", async () => {
    const model = provider(async () => [turn()]);
    const bench = await new WorkerBench(model).create();
    await send(bench, 5);
    await deliver(bench);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(idsIn(events)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    expect(model.calls).toBe(5);
  });

  // Requirement: EVT-6
  test("are injected step by step when they arrive during a model call", async () => {
    const model = provider(async (_, call) => {
      if (call === 0) await send(bench, 5);
      return [{ kind: "text", text: "hello" }, turn()];
    });
    const bench = await new WorkerBench(model).create();
    await deliver(bench);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(idsIn(events)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
  });
});

test("an answer that exceeds a batch is charged, and ends the run after one model call", async () => {
  const model = provider(async () => [
    { kind: "text", text: "hello" },
    turn({ messageJson: JSON.stringify({ encrypted: "x".repeat(1_100_000) }) }),
  ]);
  const bench = await new WorkerBench(model).create();
  await deliver(bench);
  const events = await bench.events();
  expectWhole(events, RunStatus.ERROR);
  expect(reasonsIn(events)).toEqual(["too_large"]);
  expect(model.calls).toBe(1);
  const costs = events.flatMap(({ event }) => (event.case === "costSummary" ? [event.value] : []));
  expect(costs).toMatchObject([{ llmCalls: 1, inputTokens: 3, outputTokens: 4 }]);
});

/** Returns a catalog of tools whose descriptions have `bytes` bytes in total. */
function toolsOf(bytes: number) {
  const tools = [0, 1, 2].map((index): MessageInitShape<typeof ToolDescriptorSchema> => ({
    name: `t${index}`,
    permissionClass: PermissionClass.SAFE,
    source: "builtin",
    description: "d".repeat(bytes / 3),
  }));
  return [create(ToolCatalogSchema, { tools, isolation: "none" })];
}

class BenchWithTools extends WorkerBench {
  bytes = 0;
  override ports(worker: string) {
    const ports = super.ports(worker);
    return { ...ports, catalogs: () => ({ ...ports.catalogs(), tools: toolsOf(this.bytes) }) };
  }
}

test("a run whose tools exceed a batch ends with the reason", async () => {
  const bench = new BenchWithTools(provider(async () => [turn()]));
  await bench.create();
  bench.bytes = 1_200_000;
  await deliver(bench);
  const events = await bench.events();
  expectWhole(events, RunStatus.ERROR);
  expect(reasonsIn(events)).toEqual(["resolve_failed"]);
});

test("facts that follow, and do not fit into the batch, are appended in further ones", async () => {
  const model = provider(async () => [turn()]);
  const bench = new BenchWithTools(model);
  await bench.create();
  bench.bytes = 900_000;
  await send(bench, 1);
  await deliver(bench);
  const events = await bench.events();
  expectWhole(events, RunStatus.COMPLETED);
  expect(idsIn(events)).toEqual(["m0"]);
  const batches = bench.log.batches.map(({ events }) => events.map(({ event }) => event.case));
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
  const bench = await new WorkerBench(model).create();
  await deliver(bench);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  const kinds = bench.log.batches.map(({ events }) => events.map(({ event }) => event.case));
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

test("a character whose halves arrive in two parts of a stream is one character in the log", async () => {
  const model = provider(async () => [
    { kind: "text", text: "smile \ud83d" },
    { kind: "text", text: "\ude00 so" },
    { kind: "text", text: " \ud83d" },
    turn(),
  ]);
  const bench = await new WorkerBench(model).create();
  await deliver(bench);
  const texts = (await bench.events()).flatMap(({ event }) =>
    event.case === "text" ? [event.value.text] : [],
  );
  expect(texts.every((text) => text.isWellFormed())).toBe(true);
  expect(texts.join("")).toBe("smile 😀 so ");
});
