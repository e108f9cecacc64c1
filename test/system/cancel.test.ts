import { execFileSync } from "node:child_process";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { openCallJournal } from "@reeve/log/nats-journal";
import { failureFrom } from "@reeve/platform/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { eventOf, expectGapless, firstCall, started, watchToEnd } from "./support/watching.ts";

const never = new AbortController().signal;
let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("talk");
  const deepAgent = { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) };
  await deployment.agent("sleep", { permissionClasses: ["execute"], deepAgent });
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    deepAgent,
    hitlTools: ["execute_code"],
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

async function startRun(agentId: string, input: string): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input });
  return run?.runId ?? "";
}

/** Cancels a run that somebody watches. Whoever watches sees one `cancelled`, and nothing after it. */
async function expectCancelled(runId: string): Promise<void> {
  const watched = watchToEnd(deployment, runId);
  const { run } = await deployment.reeve.runs.cancelRun({ runId, reason: "enough" });
  expect(run?.status).toBe(RunStatus.CANCELLED);
  const events = await watched;
  expectGapless(events);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.CANCELLED });
  const again = await deployment.reeve.runs.cancelRun({ runId });
  expect(again.run?.status).toBe(RunStatus.CANCELLED);
}

/** Resolves when the journal of a call says that it was cancelled. */
async function withdrawn(runId: string, call: string): Promise<void> {
  const journal = await openCallJournal(deployment.nats);
  for await (const { events } of journal.follow({ tenant: "acme", run: runId, call }, 0, never)) {
    if (events.some(({ fact }) => fact.case === "cancelled")) return;
  }
}

function processesWith(text: string): number {
  const lines = execFileSync("ps", ["-eo", "args"]).toString().split("\n");
  return lines.filter((line) => line.includes(text)).length;
}

describe("a run that is cancelled", () => {
  test("while its model speaks, says nothing more", async () => {
    const runId = await startRun("talk", "talk");
    await eventOf(deployment, runId, "text");
    await expectCancelled(runId);
  });

  test("during a call in the sandbox, takes the process with it", async () => {
    const runId = await startRun("sleep", "3600");
    const call = await firstCall(deployment, runId);
    await started(deployment, runId, call);
    // The folder of its workspace is among the arguments of a sandbox.
    await expect.poll(() => processesWith(runId), { timeout: 5_000 }).toBeGreaterThan(0);
    await expectCancelled(runId);
    await withdrawn(runId, call);
    await expect.poll(() => processesWith(runId), { timeout: 5_000 }).toBe(0);
  });

  test("while it waits for a person, withdraws its approval", async () => {
    const runId = await startRun("publish", "publish");
    await eventOf(deployment, runId, "runParked");
    const call = await firstCall(deployment, runId);
    await expectCancelled(runId);
    await withdrawn(runId, call);
    const refused = await deployment.reeve.approvals
      .decideApproval({ approvalId: call, approved: true })
      .catch(failureFrom);
    expect(refused).toMatchObject({ kind: "precondition" });
    await expect
      .poll(
        async () =>
          (await deployment.reeve.approvals.getApproval({ approvalId: call })).approval?.state,
      )
      .toBe(ApprovalState.WITHDRAWN);
  });

  test("when nobody watches it any more, if it asked for that, and only then", async () => {
    const { runs } = deployment.reeve;
    const watchedOnce = async (cancelOnDisconnect: boolean) => {
      const input = "20";
      const { run } = await runs.startRun({ agentId: "sleep", input, cancelOnDisconnect });
      const runId = run?.runId ?? "";
      const goingAway = new AbortController();
      const watched = runs.watchRun({ runId }, { signal: goingAway.signal });
      for await (const { events } of watched) {
        if (events.some(({ event }) => event.case === "toolCall")) break;
      }
      goingAway.abort();
      return runId;
    };
    const [kept, given] = await Promise.all([watchedOnce(false), watchedOnce(true)]);
    // Read from the log itself: another watcher would keep the run.
    await eventOf(deployment, given, "cancelRequested");
    expect((await runs.getRun({ runId: given })).run?.status).toBe(RunStatus.CANCELLED);
    expect((await runs.getRun({ runId: kept })).run?.status).toBe(RunStatus.RUNNING);
    await expectCancelled(kept);
  });

  test("before any worker has it, never starts", async () => {
    await deployment.kill("runtime");
    const runId = await startRun("sleep", "0");
    await expectCancelled(runId);
    await deployment.start("runtime");
    expect((await deployment.reeve.runs.getRun({ runId })).run?.status).toBe(RunStatus.CANCELLED);
  });

  test("after it ended, stays as it is", async () => {
    const runId = await startRun("sleep", "0");
    await watchToEnd(deployment, runId);
    const refused = await deployment.reeve.runs.cancelRun({ runId }).catch(failureFrom);
    expect(refused).toMatchObject({
      kind: "precondition",
      message: `run ${runId} has ended: completed`,
    });
  });
});
