import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSpecFile } from "@reeve/agent/spec/spec-file";
import { RunStatus } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { openConnection } from "@reeve/client";
import { startEmbedded } from "@reeve/cli/embedded";
import { runCli } from "@reeve/cli/run-cli";
import { MemoryTerminal } from "@reeve/cli/test/support/memory-terminal";

const examples = join(import.meta.dirname, "../../examples");

// Requirement: TRIG-7
test("the release-check example makes a plan, checks three areas in parallel, decides, and passes its eval", async () => {
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
    const terminal = new MemoryTerminal();
    const options = { terminal, environment: {}, signal: new AbortController().signal };
    const connection = ["--url", embedded.url, "--token", embedded.token];
    const evaluated = join(examples, "release-check/eval.yaml");
    const code = await runCli([...connection, "eval", "run", evaluated], options);
    expect({ code, shown: terminal.stdout }).toEqual({
      code: 0,
      shown: expect.stringContaining("1 of 1 passed"),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// Requirement: RES-7
test("the fact-check example has two statements checked by a delegate, and corrects one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-example-"));
  try {
    await using embedded = await startEmbedded(
      {
        listen: "127.0.0.1:0",
        dataDir: folder,
        settings: { REEVE_SCRIPTS: join(examples, "fact-check/scripts") },
        log: createLogger("test", "silent"),
      },
      new AbortController().signal,
    );
    using reeve = openConnection({ address: embedded.url, token: embedded.token });
    for (const name of ["checker.yaml", "agent.yaml"]) {
      const file = join(examples, "fact-check", name);
      await reeve.agents.createAgent({ spec: parseSpecFile(readFileSync(file, "utf8"), file) });
    }
    const { run } = await reeve.runs.startRun({ agentId: "writer", input: "the Eiffel Tower" });
    const runId = run?.runId ?? "";
    for await (const _ of reeve.runs.watchRun({ runId }));
    const { run: ended } = await reeve.runs.getRun({ runId });
    expect(ended).toMatchObject({
      status: RunStatus.COMPLETED,
      output: expect.stringContaining("330 meters"),
      cost: { subtasks: 2 },
    });
    const { tree } = await reeve.runs.getExecutionTree({ runId });
    const titles = tree?.nodes.map(({ title }) => title).filter((title) => title !== "");
    expect(titles).toEqual([
      "fact-checker: The Eiffel Tower was opened in 1889.",
      "fact-checker: It is 400 meters high.",
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// Requirement: CHAT-1
test("the media example generates images as artifacts, for a request and for its model, and refuses others by name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-example-"));
  try {
    await using embedded = await startEmbedded(
      {
        listen: "127.0.0.1:0",
        dataDir: folder,
        settings: {
          REEVE_SCRIPTS: join(examples, "media/scripts"),
          REEVE_MODELS: join(examples, "media/models.yaml"),
        },
        log: createLogger("test", "silent"),
      },
      new AbortController().signal,
    );
    using reeve = openConnection({ address: embedded.url, token: embedded.token });
    const file = join(examples, "media/agent.yaml");
    await reeve.agents.createAgent({ spec: parseSpecFile(readFileSync(file, "utf8"), file) });
    const request = { agentId: "illustrator", input: "a lighthouse" };
    for (const mediaGeneration of [{ mode: "image" }, { mode: "chat" }]) {
      const { run } = await reeve.runs.startRun({ ...request, mediaGeneration });
      const runId = run?.runId ?? "";
      for await (const _ of reeve.runs.watchRun({ runId }));
      const { run: ended } = await reeve.runs.getRun({ runId });
      expect(ended).toMatchObject({ status: RunStatus.COMPLETED, cost: { costUsd: 0.04 } });
      const { artifacts } = await reeve.artifacts.listArtifacts({ runId });
      expect(artifacts.map(({ name }) => name).toSorted()).toEqual([
        "image-1.png",
        "image-partial-1.png",
        "image-partial-2.png",
      ]);
      const image = artifacts.find(({ name }) => name === "image-1.png");
      expect(ended?.output).toContain(image?.artifactId);
    }
    const video = reeve.runs.startRun({ ...request, mediaGeneration: { mode: "video" } });
    await expect(video).rejects.toThrow(/\[unimplemented\].*"video"/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
