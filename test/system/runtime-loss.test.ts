import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { fromJson } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { RunEventKind } from "@reeve/log/run-feed";
import { openCallJournal } from "@reeve/log/nats-journal";
import { openRunLog } from "@reeve/log/nats-run-log";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";

const never = new AbortController().signal;
let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

async function startRun(): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId: "publish", input: "publish it" });
  return run?.runId ?? "";
}

/** The next event of a kind in the log of a run, whoever writes it. */
async function eventOf(runId: string, kind: RunEventKind): Promise<RunEvent> {
  const log = await openRunLog(deployment.nats);
  for await (const { events } of log.follow({ tenant: "acme", run: runId }, 0, never)) {
    const found = events.find(({ event }) => event.case === kind);
    if (found !== undefined) return found;
  }
  throw new Error(`the log of ${runId} ended`);
}

/** Resolves when a toolhost has begun to execute the call. */
async function started(runId: string, callId: string): Promise<void> {
  const journal = await openCallJournal(deployment.nats);
  const key = { tenant: "acme", run: runId, call: callId };
  for await (const { events } of journal.follow(key, 0, never)) {
    if (events.some(({ fact }) => fact.case === "started")) return;
  }
}

async function approve(runId: string): Promise<void> {
  const { event } = await eventOf(runId, "approval");
  if (event.case !== "approval") throw new Error("no approval");
  const approvalId = event.value.approval?.approvalId ?? "";
  await deployment.reeve.approvals.decideApproval({ approvalId, approved: true });
}

/** A command line of its own that watches a run to its end. Gives the sequences that it printed. */
function watchingCli(runId: string): Promise<{ sequences: readonly number[]; code: number }> {
  const bin = join(import.meta.dirname, "../../cli/bin/reeve.mjs");
  const child = spawn(process.execPath, [bin, "watch", runId, "--json", "--all"], {
    env: {
      PATH: process.env["PATH"] ?? "",
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

/** The run ended well, its code ran once, its report was published once, and nobody who watched missed or repeated anything. */
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

describe("a run whose runtime is killed and started again", () => {
  test("before it was dispatched, is carried out", async () => {
    await deployment.kill("runtime");
    const runId = await startRun();
    const watched = watchingCli(runId);
    expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.QUEUED);
    await deployment.start("runtime");
    await approve(runId);
    await expectWhole(runId, watched);
  });

  test("during a call in the sandbox, goes on with that call", async () => {
    const runId = await startRun();
    const watched = watchingCli(runId);
    const { event } = await eventOf(runId, "toolCall");
    await started(runId, event.case === "toolCall" ? event.value.callId : "");
    await deployment.kill("runtime");
    await deployment.start("runtime");
    await approve(runId);
    await expectWhole(runId, watched);
  });

  test("while an approval is pending, goes on when it is given", async () => {
    const runId = await startRun();
    const watched = watchingCli(runId);
    await eventOf(runId, "runParked");
    await deployment.kill("runtime");
    await approve(runId);
    await deployment.start("runtime");
    await expectWhole(runId, watched);
  });

  test("while its report is being published, publishes it once", async () => {
    const runId = await startRun();
    const watched = watchingCli(runId);
    await eventOf(runId, "runParked");
    // The host stands still, so that the call is on its way and not yet executed when the runtime dies.
    deployment.signal("toolhost", "SIGSTOP");
    const subject = channelOf(ToolCallRequestSchema).subject({ pool: "default" });
    const requested = deployment.nats.connection.subscribe(subject, { max: 1 });
    await deployment.nats.connection.flush();
    await approve(runId);
    for await (const _ of requested) break;
    await deployment.kill("runtime");
    deployment.signal("toolhost", "SIGCONT");
    await deployment.start("runtime");
    await expectWhole(runId, watched);
  });
});
