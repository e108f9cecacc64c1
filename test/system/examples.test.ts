import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSpecFile } from "@reeve/agent/spec/spec-file";
import { RunStatus } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { openConnection } from "@reeve/client";
import { startEmbedded } from "@reeve/cli/embedded";

const examples = join(import.meta.dirname, "../../examples");

test("the release-check example makes a plan, checks three areas in parallel, and decides", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-example-"));
  try {
    await using embedded = await startEmbedded(
      {
        listen: "127.0.0.1:0",
        dataDir: folder,
        settings: { REEVE_SCRIPTS: join(examples, "release-check/scripts") },
        log: createLogger("test", "silent"),
      },
      new AbortController().signal,
    );
    using reeve = openConnection({ address: embedded.url, token: embedded.token });
    const file = join(examples, "release-check/agent.yaml");
    await reeve.agents.createAgent({ spec: parseSpecFile(readFileSync(file, "utf8"), file) });
    const { run } = await reeve.runs.startRun({
      agentId: "release-check",
      input: "Can version 2.0 be released?",
    });
    const runId = run?.runId ?? "";
    for await (const _ of reeve.runs.watchRun({ runId }));
    const { run: ended } = await reeve.runs.getRun({ runId });
    expect(ended).toMatchObject({
      status: RunStatus.COMPLETED,
      output: expect.stringContaining("One dependency has a known vulnerability."),
      cost: { subtasks: 4 },
    });
    const { tree } = await reeve.runs.getExecutionTree({ runId });
    const titles = tree?.nodes.filter(({ name }) => name === "subtask").map(({ title }) => title);
    expect(titles).toEqual([
      "Check the tests of the version.",
      "Check the changelog of the version.",
      "Check the security of the version.",
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
