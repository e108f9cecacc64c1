import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@reeve/contracts/error-details";
import { expect, test } from "vitest";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRuns } from "./support/small-server.ts";
import { runCli } from "../src/run-cli.ts";

test.each([
  ["its text", "in May", "in May"],
  ["standard input", "-", "from a pipe"],
])("send gives a run a message of %s", async (_, text, sent) => {
  const { signal } = new AbortController();
  const messages: object[] = [];
  const sendMessage = ({ runId, text: given }: { runId: string; text: string }) => {
    messages.push({ runId, text: given });
    return {};
  };
  await using server = await serveRuns({ sendMessage }, 0, signal);
  const terminal = new MemoryTerminal({ input: "from a pipe" });
  const args = ["--url", server.url, "send", "run_1", text];
  expect(await runCli(args, { terminal, environment: {}, signal })).toBe(0);
  expect(messages).toEqual([{ runId: "run_1", text: sent }]);
  expect(terminal.stdout).toBe("sent to run_1\n");
});

test.each([
  [
    "sales",
    /to continue the conversation .* run: reeve --url \S+ run writer TEXT --thread sales\n/,
  ],
  ["", /to start another run, run: reeve --url \S+ run writer TEXT\n/],
])("send to a run that has ended in the thread %j says how to go on", async (threadId, hint) => {
  const { signal } = new AbortController();
  const info = { desc: ErrorInfoSchema, value: { reason: "RUN_ENDED", domain: "reeve" } };
  const refusal = new ConnectError("ended", Code.FailedPrecondition, undefined, [info]);
  const sendMessage = () => Promise.reject(refusal);
  const getRun = ({ runId }: { runId: string }) => ({
    run: { runId, agentId: "writer", threadId },
  });
  await using server = await serveRuns({ sendMessage, getRun }, 0, signal);
  const terminal = new MemoryTerminal();
  const args = ["--url", server.url, "send", "run_1", "hi"];
  expect(await runCli(args, { terminal, environment: {}, signal })).not.toBe(0);
  expect(terminal.stderr).toMatch(hint);
});
