import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { parseSpecFile } from "@reeve/agent/spec/spec-file";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { inSpan } from "@reeve/platform/telemetry/spans";
import { beforeAll, expect, test } from "vitest";
import { runAgent } from "@reeve/local/run-agent";
import { loadScripts } from "@reeve/models/scripted/load-scripts";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";

const never = new AbortController().signal;
const example = join(import.meta.dirname, "../../examples/release-check");
const exporter = new InMemorySpanExporter();

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
});

/** Returns the number of spans for each path of names from the root. */
function counted(spans: readonly ReadableSpan[]): Readonly<Record<string, number>> {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const pathOf = ({ name, parentSpanContext }: ReadableSpan): string => {
    const parent = byId.get(parentSpanContext?.spanId ?? "");
    return parent === undefined ? name : `${pathOf(parent)} > ${name}`;
  };
  const counts: Record<string, number> = {};
  for (const path of spans.map(pathOf)) counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}

test("planner and subtasks have their own spans below the run's, in the caller's trace", async () => {
  const file = join(example, "agent.yaml");
  const spec = parseSpecFile(readFileSync(file, "utf8"), file);
  const scripts = await loadScripts(join(example, "scripts"), never);
  const ended = await inSpan("caller", {}, ROOT_CONTEXT, async () => {
    const providers = [scriptedProvider(scripts)];
    const agent = { ...spec, model: "scripted:release-check" };
    return await runAgent(agent, "Can it be released?", { providers, signal: never }).ended;
  });
  expect(ended.status).toBe(RunStatus.COMPLETED);
  const root = "caller > claim_run > invoke_agent release-check";
  const subtask = `${root} > invoke_agent release-check`;
  expect(counted(exporter.getFinishedSpans())).toEqual({
    caller: 1,
    "caller > claim_run": 1,
    [root]: 1,
    [`${root} > plan release-check`]: 1,
    [`${root} > plan release-check > chat release-check`]: 1,
    [`${root} > chat release-check`]: 3,
    [subtask]: 3,
    // Two for the tests, one and a reminder for the changelog, two for security.
    [`${subtask} > chat release-check`]: 6,
    [`${subtask} > invoke_agent release-check`]: 1,
    [`${subtask} > invoke_agent release-check > chat release-check`]: 1,
  });
  const ids = exporter
    .getFinishedSpans()
    .map(({ attributes }) => attributes["reeve.subtask.id"])
    .filter((id) => id !== undefined);
  expect(new Set(ids).size).toBe(4);
});

test.each([
  ["sent", {}, 0.5],
  ["not sent, because its model accepts none", { temperature: false }, undefined],
])("the span of a model call shows a temperature that is %s", async (_, accepted, shown) => {
  exporter.reset();
  const capabilities = { tools: true, parallelToolCalls: true, ...accepted };
  const asked: (number | undefined)[] = [];
  const provider: ModelProvider = {
    descriptor: create(ProviderDescriptorSchema, { name: "test", capabilities }),
    format: "test",
    async *stream({ temperature }) {
      asked.push(temperature);
      const turn = { messageJson: "{}", finishReason: "stop", calls: [], model: "x" };
      yield { kind: "turn", turn: { ...turn, usage: undefined } };
    },
  };
  const agent = { id: "a", name: "a", model: "test:x", temperature: 0.5 };
  await runAgent(agent, "go", { providers: [provider], signal: never }).ended;
  expect(asked).toEqual([shown]);
  const [span] = exporter.getFinishedSpans().filter(({ name }) => name === "chat x");
  expect(span?.attributes["gen_ai.request.temperature"]).toBe(shown);
});

test("each check of guards has a span with the guards that tripped, also of an answer that is held back", async () => {
  exporter.reset();
  const scripts = await loadScripts(join(example, "scripts"), never);
  const guardrails = {
    hold: true,
    input: [{ name: "in", literals: ["released"], action: "redact" }],
    output: [{ name: "out", patterns: ["."], action: "stop" }],
  };
  const agent = {
    id: "a",
    name: "a",
    model: "scripted:release-check",
    sections: { guardrails: fromJson(ValueSchema, guardrails) },
  };
  const providers = [scriptedProvider(scripts)];
  const ended = await runAgent(agent, "Can it be released?", { providers, signal: never }).ended;
  expect(ended.status).toBe(RunStatus.ERROR);
  const hooks = exporter.getFinishedSpans().filter(({ name }) => name === "run_hook guardrails");
  expect(hooks.map(({ attributes }) => attributes)).toMatchObject([
    { "reeve.plugin.phase": "run_start", "reeve.guards.tripped": ["in"] },
    {
      "reeve.plugin.phase": "after_inference",
      "reeve.plugin.verdict": "stop",
      "reeve.guards.tripped": ["out"],
    },
  ]);
});
