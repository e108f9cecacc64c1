import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { fromJson } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { RunStatus } from "@reeve/contracts/run";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { programFile } from "@reeve/platform/test/support/program-file";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, firstCall, started, watchToEnd } from "./support/watching.ts";
import { HookFiles, testKilledPlugin } from "./parts/killed-plugin.ts";
import { describeKilledWorkflow } from "./parts/killed-workflow.ts";
import { LanguageProvider } from "./support/language-providers.ts";
import { inheritedEnv } from "../support/inherited-env.ts";

let deployment: Deployment;
/** The folder of what the plugin records. */
let journals: string;
const pluginFiles = new HookFiles();
const pluginServer = {
  kind: "ready",
  command: [process.execPath, join(import.meta.dirname, "support/plugins/plugin-server.ts")],
  env: pluginFiles.env,
} as const;
let plugin: LanguageProvider;

beforeAll(async () => {
  plugin = await LanguageProvider.start(pluginServer, "");
  const plugins = {
    hanging: { package: join(import.meta.dirname, "support/plugins/hanging.ts") },
    "call-limit": { target: plugin.address },
  };
  deployment = await Deployment.start({}, { REEVE_PLUGINS: JSON.stringify({ plugins }) });
  journals = mkdtempSync(join(tmpdir(), "reeve-hooks-"));
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
  });
  await deployment.agent("ask", { questions: {} });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await plugin[Symbol.asyncDispose]();
  pluginFiles[Symbol.dispose]();
  rmSync(journals, { recursive: true });
});

/** Returns the lines of a journal once it has `count` of them. */
async function linesOf(journal: string, count: number): Promise<readonly string[]> {
  const read = () => readFileSync(journal, "utf8").split("\n").slice(0, -1);
  const watcher = watch(journal);
  while (read().length < count) await once(watcher, "change");
  watcher.close();
  return read();
}

async function startRun(): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId: "publish", input: "publish it" });
  return run?.runId ?? "";
}

/** Starts a CLI process that watches a run to its end. Returns the sequences that it printed. */
function watchingCli(runId: string): Promise<{ sequences: readonly number[]; code: number }> {
  const child = spawn(process.execPath, [programFile("reeve"), "watch", runId, "--json", "--all"], {
    env: {
      ...inheritedEnv,
      REEVE_URL: deployment.url,
      REEVE_TOKEN: deployment.token,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const sequences: number[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event: unknown = JSON.parse(line);
    if (typeof event === "object" && event !== null && "sequence" in event) {
      sequences.push(Number(event.sequence));
    }
  });
  return once(child, "close").then(([code]) => ({ sequences, code: Number(code) }));
}

/** Checks that the run completed, its code ran once, its report was published once, and no watcher missed or repeated an event. */
async function expectWhole(
  runId: string,
  watched: Promise<{ sequences: readonly number[]; code: number }>,
): Promise<void> {
  const { sequences, code } = await watched;
  const { run } = await deployment.reeve.runs.getRun({ runId });
  expect(run?.status).toBe(RunStatus.COMPLETED);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  expect(code).toBe(0);
  const { artifacts } = await deployment.reeve.artifacts.listArtifacts({ runId });
  expect(artifacts).toHaveLength(1);
  let report = "";
  for await (const { part } of deployment.reeve.artifacts.downloadArtifact({
    artifactId: artifacts[0]?.artifactId ?? "",
  })) {
    if (part.case === "chunk") report += Buffer.from(part.value).toString();
  }
  expect(report).toBe("ran\n");
}

// Requirement: DUR-3
describe("a run whose runtime is killed and started again", () => {
  test("before the dispatch, completes", async () => {
    await deployment.kill("runtime");
    const runId = await startRun();
    const watched = watchingCli(runId);
    expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.QUEUED);
    await deployment.start("runtime");
    await approve(deployment, runId);
    await expectWhole(runId, watched);
  });

  test("during a call in the sandbox, continues with that call", async () => {
    const runId = await startRun();
    const watched = watchingCli(runId);
    await started(deployment, runId, await firstCall(deployment, runId));
    await deployment.kill("runtime");
    await deployment.start("runtime");
    await approve(deployment, runId);
    await expectWhole(runId, watched);
  });

  test("while an approval is pending, continues after the decision", async () => {
    const runId = await startRun();
    const watched = watchingCli(runId);
    await eventOf(deployment, runId, "runParked");
    await deployment.kill("runtime");
    await approve(deployment, runId);
    await deployment.start("runtime");
    await expectWhole(runId, watched);
  });

  // Requirement: HITL-4
  test("while its agent asks a question, continues with the answer of the person who started it", async () => {
    const { run } = await deployment.reeve.runs.startRun({ agentId: "ask", input: "go" });
    const runId = run?.runId ?? "";
    await eventOf(deployment, runId, "runParked");
    await deployment.kill("runtime");
    const { event } = await eventOf(deployment, runId, "approval");
    const asked = event.case === "approval" ? event.value.approval : undefined;
    expect(asked?.question?.message).toBe("Which dish?");
    const { approvalId = "" } = asked ?? {};
    const wrong = deployment.reeve.approvals.answerQuestion({ approvalId, answer: {} });
    await expect(wrong).rejects.toThrow("does not match its schema");
    const answer = { answer: "soup" };
    await deployment.reeve.approvals.answerQuestion({ approvalId, answer });
    await deployment.start("runtime");
    const { event: result } = await eventOf(deployment, runId, "toolResult");
    expect(result.value).toMatchObject({ result: { content: '{"answer":"soup"}' } });
    await eventOf(deployment, runId, "costSummary");
  });

  // Requirement: RES-5, RES-11
  test("in the middle of a hook together with NATS, repeats the hook with its id and records it once", async () => {
    const journal = join(journals, "hanging");
    writeFileSync(journal, "");
    await deployment.agent("talk", {
      pluginIds: ["hanging"],
      sections: { hanging: fromJson(ValueSchema, { journal }) },
    });
    const { run } = await deployment.reeve.runs.startRun({ agentId: "talk", input: "go" });
    const runId = run?.runId ?? "";
    const [first = "", hanging = ""] = await linesOf(journal, 2);
    await deployment.kill("runtime");
    await deployment.killNats();
    await deployment.startNats();
    await deployment.start("runtime");
    const events = await watchToEnd(deployment, runId);
    const recorded = events.flatMap(({ event }) =>
      event.case === "pluginHookFinished" ? [event.value.hookId] : [],
    );
    const last = `${runId}:root:1:run_end:hanging`;
    expect(recorded).toEqual([first, hanging, last]);
    const after = `${runId}:root:0:deactivate:hanging`;
    expect(await linesOf(journal, 5)).toEqual([first, hanging, hanging, last, after]);
    expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  });

  // Requirement: RES-5
  test("gracefully in the middle of a hook, waits for its answer, and repeats nothing", async () => {
    const journal = join(journals, "drained");
    const until = join(journals, "until");
    writeFileSync(journal, "");
    await deployment.agent("drained", {
      model: "scripted:talk",
      pluginIds: ["hanging"],
      sections: { hanging: fromJson(ValueSchema, { journal, until }) },
    });
    const { run } = await deployment.reeve.runs.startRun({ agentId: "drained", input: "go" });
    const runId = run?.runId ?? "";
    const [first, hanging] = await linesOf(journal, 2);
    await deployment.end("runtime", () => writeFileSync(until, ""));
    await deployment.start("runtime");
    const events = await watchToEnd(deployment, runId);
    expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
    const last = `${runId}:root:1:run_end:hanging`;
    const after = `${runId}:root:0:deactivate:hanging`;
    expect(await linesOf(journal, 4)).toEqual([first, hanging, last, after]);
  });

  describeKilledWorkflow(() => deployment);

  describe("a plugin", () => {
    testKilledPlugin("TypeScript", {
      deployment: () => deployment,
      plugin: () => ({
        pluginId: "call-limit",
        model: "scripted:plugin-typescript",
        files: pluginFiles,
        kill: () => plugin[Symbol.asyncDispose](),
        async start() {
          plugin = await LanguageProvider.start(pluginServer, "", plugin.address);
        },
      }),
    });
  });

  test("during the publication of its report, publishes it once", async () => {
    const runId = await startRun();
    const watched = watchingCli(runId);
    await eventOf(deployment, runId, "runParked");
    // The toolhost is stopped, so the call is sent but not executed when the runtime dies.
    deployment.signal("toolhost", "SIGSTOP");
    const subject = channelOf(ToolCallRequestSchema).subject({ pool: "default" });
    const requested = deployment.nats.connection.subscribe(subject, { max: 1 });
    await deployment.nats.connection.flush();
    await approve(deployment, runId);
    for await (const _ of requested) break;
    await deployment.kill("runtime");
    deployment.signal("toolhost", "SIGCONT");
    await deployment.start("runtime");
    await expectWhole(runId, watched);
  });
});

// Requirement: RES-5
test("the plugin of a run that is cancelled in the middle of a hook is deactivated once", async () => {
  const journal = join(journals, "cancelled");
  writeFileSync(journal, "");
  await deployment.agent("cancelled", {
    model: "scripted:talk",
    pluginIds: ["hanging"],
    sections: { hanging: fromJson(ValueSchema, { journal }) },
  });
  const { run } = await deployment.reeve.runs.startRun({ agentId: "cancelled", input: "go" });
  const runId = run?.runId ?? "";
  const [first, hanging] = await linesOf(journal, 2);
  await deployment.reeve.runs.cancelRun({ runId });
  const after = `${runId}:root:0:deactivate:hanging`;
  expect(await linesOf(journal, 3)).toEqual([first, hanging, after]);
});
