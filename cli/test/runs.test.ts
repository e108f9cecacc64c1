import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/client";
import type { ListRunsRequest } from "@reeve/contracts/run";
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

/** Lists runs with options, and returns the request and what was printed. */
async function listed(...options: readonly string[]) {
  const { signal } = new AbortController();
  const requests: ListRunsRequest[] = [];
  const list = (request: ListRunsRequest) => {
    requests.push(request);
    return {};
  };
  await using server = await serveRuns({ listRuns: list }, 0, signal);
  const terminal = new MemoryTerminal();
  const args = ["--url", server.url, "runs", ...options];
  const code = await runCli(args, { terminal, environment: {}, signal });
  return { code, request: requests[0], stderr: terminal.stderr };
}

test("runs selects by every filter of the API", async () => {
  const options =
    "--agent writer --status waiting error --started-by ann --label team=blue=green --label eu --text bill --min-cost 0.5 --since 2030-01-31T00:00:00Z --until 2030-02-01T00:00:00Z";
  const { code, request } = await listed(...options.split(" "));
  expect(code).toBe(0);
  expect(request).toMatchObject({
    agentId: "writer",
    statuses: [RunStatus.WAITING, RunStatus.ERROR],
    filter: {
      startedBy: "ann",
      labels: { team: "blue=green", eu: "" },
      text: "bill",
      minCostUsd: 0.5,
      createdAfter: timestampFromDate(new Date("2030-01-31T00:00:00Z")),
      createdBefore: timestampFromDate(new Date("2030-02-01T00:00:00Z")),
    },
  });
});

test("runs sends no filter that was not asked for, which older gateways refuse", async () => {
  const { request } = await listed("--thread", "thr_1");
  expect(request).toMatchObject({ threadId: "thr_1" });
  expect(request?.filter).toBeUndefined();
});

test.each([
  [["--min-cost", "much"], "Use an amount in US dollars"],
  [["--label", "=blue"], "Use name=value"],
  [["--label", "team=a", "--label", "team=b"], "Give each label once"],
  [["--status", "done"], '"done" is not a status; use one of: '],
])("runs refuses %j, and says what to write", async (options, message) => {
  const { code, request, stderr } = await listed(...options);
  expect(code).toBe(2);
  expect(request).toBeUndefined();
  expect(stderr).toContain(message);
});
