import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { jetstreamManager } from "@nats-io/jetstream";
import { runCli } from "@reeve/cli/run-cli";
import { MemoryTerminal } from "@reeve/cli/test/support/memory-terminal";
import { expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, expectCompleted, watchToEnd } from "./support/watching.ts";

const shards = 4;
const runCount = 12;
const never = new AbortController().signal;

/** Returns how many messages each stream with logs of runs has. */
async function messagesOf({ nats }: Deployment): Promise<readonly number[]> {
  const { streams } = await jetstreamManager(nats.connection);
  const all = await Array.fromAsync(streams.list());
  return all.flatMap(({ config, state }) =>
    config.name.startsWith("RUNS") ? [state.messages] : [],
  );
}

// Requirement: OPS-11, DUR-3
test(
  "runs of a store with shards survive the loss of the runtime and of NATS, and are listed, decided, and verified as others",
  { timeout: 240_000 },
  async () => {
    await using deployment = await Deployment.start({ REEVE_RUN_SHARDS: String(shards) });
    const { reeve } = deployment;
    await deployment.agent("note", {
      permissionClasses: ["execute"],
      deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
      hitlTools: ["execute_code"],
    });
    const starts = Array.from({ length: runCount }, async () => {
      const { run } = await reeve.runs.startRun({ agentId: "note", input: "0" });
      return run?.runId ?? "";
    });
    const runIds = await Promise.all(starts);
    const watching = runIds.map((runId) => watchToEnd(deployment, runId));
    for (const runId of runIds) await eventOf(deployment, runId, "approval");
    await deployment.kill("runtime");
    await deployment.killNats();
    await deployment.startNats();
    await deployment.start("runtime");
    for (const runId of runIds) await approve(deployment, runId);
    for (const events of await Promise.all(watching)) expectCompleted(events);

    const listed = await reeve.runs.listRuns({ pageSize: 100 });
    expect(listed.runs.map(({ runId }) => runId).toSorted()).toEqual(runIds.toSorted());
    const messages = await messagesOf(deployment);
    expect(messages).toHaveLength(shards);
    expect(Math.min(...messages)).toBeGreaterThan(0);

    const terminal = new MemoryTerminal();
    const environment = deployment.operatorEnvironment;
    const args = ["--url", deployment.url, "--token", deployment.token, "verify", runIds[0] ?? ""];
    const code = await runCli(args, { terminal, environment, signal: never });
    expect([code, terminal.stderr]).toEqual([0, ""]);
  },
);
