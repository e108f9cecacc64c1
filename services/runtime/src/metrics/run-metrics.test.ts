import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ToolResultMetadataSchema } from "@reeve/contracts/tool";
import { ToolStatus } from "@reeve/contracts/tool";
import { readMetrics } from "@reeve/platform/telemetry/metrics";
import { expect, test } from "vitest";
import { runMetrics } from "./run-metrics.ts";

const count = runMetrics(() => ({ tools: [], models: create(ModelCatalogSchema) }));

function result(name: string, metadata: MessageInitShape<typeof ToolResultMetadataSchema>) {
  const value = { result: { name, metadata }, durationMs: 3_600_000 };
  return create(RunEventSchema, { event: { case: "toolResult", value } });
}

async function lines(metric: string): Promise<readonly string[]> {
  const { text } = await readMetrics();
  return text.split("\n").filter((line) => line.startsWith(metric));
}

test("the duration of a call is its execution time, without the wait for its approval", async () => {
  count([
    result("memory_list", { status: ToolStatus.SUCCESS, executionTimeMs: 20 }),
    result("memory_list", { status: ToolStatus.REJECTED, executionTimeMs: 0 }),
  ]);
  expect(await lines('reeve_tool_calls_total{tool="memory_list"')).toEqual([
    'reeve_tool_calls_total{tool="memory_list",outcome="success"} 1',
    'reeve_tool_calls_total{tool="memory_list",outcome="rejected"} 1',
  ]);
  const seconds = "reeve_tool_call_duration_seconds_";
  expect(await lines(`${seconds}sum{tool="memory_list"}`)).toEqual([
    `${seconds}sum{tool="memory_list"} 0.02`,
  ]);
  expect(await lines(`${seconds}count{tool="memory_list"}`)).toEqual([
    `${seconds}count{tool="memory_list"} 1`,
  ]);
});
