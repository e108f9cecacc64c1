import { RunStatus } from "@reeve/client";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRuns } from "./support/small-server.ts";

const counts = { llmCalls: 5, toolCalls: 4, inputTokens: 31_947, outputTokens: 6_098 };
const listRuns = () => ({
  runs: [
    { ...ended("run_2"), cost: { ...counts, costUsd: 0.0123 } },
    { ...ended("run_1"), cost: counts },
  ],
});

function ended(runId: string) {
  const status = RunStatus.COMPLETED;
  return { runId, status, agentId: "writer", inputPreview: "Summarize the file." };
}

test("runs lists what each has cost in dollars, or that its model has no price", async () => {
  const { signal } = new AbortController();
  await using server = await serveRuns({ listRuns }, 0, signal);
  const terminal = new MemoryTerminal();
  const code = await runCli(["--url", server.url, "runs"], { terminal, environment: {}, signal });
  expect(terminal.stdout.trimEnd().split("\n")).toEqual([
    "RUN    STATUS     AGENT   COST     INPUT",
    "run_2  completed  writer  $0.012   Summarize the file.",
    "run_1  completed  writer  unknown  Summarize the file.",
  ]);
  expect(code).toBe(0);
});
