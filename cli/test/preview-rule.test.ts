import { create, toBinary } from "@bufbuild/protobuf";
import { RunBatchSchema, RunService } from "@reeve/contracts/run";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const inputSchema = { type: "object", required: ["command"] };
const tools = [{ name: "run_command", inputSchema }, { name: "search" }];

const call = (name: string, ...command: string[]) => ({
  event: { case: "toolCall" as const, value: { callId: name, name, arguments: { command } } },
});

const push = call("run_command", "git", "push");
/** A call that the run did not make itself. */
const inherited = { event: { ...push.event, value: { ...push.event.value, inheritedFrom: "r" } } };

/** The logs of two runs, by run id. */
const logs: Readonly<Record<string, readonly ReturnType<typeof call>[]>> = {
  run_new: [inherited, push, call("search"), call("nothing")],
  run_old: [call("run_command", "git", "pull"), call("run_command", "ls")],
};

/** Returns what the command prints with a server that has these runs. */
async function preview(...args: readonly string[]) {
  const { signal } = new AbortController();
  await using server = await serve(
    (router) =>
      void router.service(RunService, {
        listRuns: () => ({ runs: Object.keys(logs).map((runId) => ({ runId })) }),
        async *exportRunLog({ runId }) {
          const prepared = { event: { case: "runPrepared" as const, value: { tools } } };
          const events = [prepared, ...(logs[runId] ?? [])];
          const batch = create(RunBatchSchema, { firstSequence: 1, events });
          yield { batches: [{ payload: toBinary(RunBatchSchema, batch) }] };
        },
      }),
    { host: "127.0.0.1", port: 0, services: [RunService], log: createLogger("test", "silent") },
    signal,
  );
  const terminal = new MemoryTerminal();
  const words = ["--url", server.url, "agents", "preview-rule", ...args];
  const code = await runCli(words, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

test("counts the calls that the rule would have matched, newest run first", async () => {
  const { stdout } = await preview("run_command(git *)");
  const [summary, , first, second] = stdout.split("\n");
  expect(summary).toBe("would have matched 2 of the last 4 calls");
  expect(first).toMatch(/^run_new +run_command/);
  expect(second).toMatch(/^run_old +run_command/);
  const { stdout: json } = await preview("run_command(git *)", "--calls", "1", "--json");
  expect(JSON.parse(json)).toMatchObject({ read: 1, matched: 0, calls: [] });
});

test("refuses a rule that cannot be parsed", async () => {
  const { code, stderr } = await preview("run_command(");
  expect(code).not.toBe(0);
  expect(stderr).toContain("does not end with");
});
