import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import { openArchiver } from "@reeve/jetstream/log/archiver";
import { requestRebuild } from "@reeve/jetstream/projection/request-rebuild";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { refusalOf } from "./support/clients.ts";

const never = new AbortController().signal;
let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Starts a run, lets it ask for an approval, and cancels it. */
async function ended(threadId = ""): Promise<string> {
  const { run } = await bench.acme.runs.startRun({ agentId: "known", input: "hello", threadId });
  const { runId = "" } = run ?? {};
  const approval = { approvalId: `${runId}-2-0`, runId, state: ApprovalState.PENDING };
  await bench.append(runId, { case: "approval", value: { approval } });
  await bench.acme.runs.cancelRun({ runId });
  return runId;
}

async function listed(): Promise<readonly string[]> {
  const { runs } = await bench.acme.runs.listRuns({ pageSize: 1000 });
  return runs.map(({ runId }) => runId);
}

test("a run that has ended is deleted with its approvals and lists, and deleting it again has no effect", async () => {
  const runId = await ended();
  const inbox = await openTable(bench.nats, ApprovalSchema);
  const approval = create(ApprovalSchema, { approvalId: `${runId}-2-0`, runId });
  await inbox.put(`acme.${runId}-2-0`, approval, never);
  await expect.poll(listed).toContain(runId);
  expect(await bench.acme.runs.deleteRun({ runId })).toMatchObject({ existed: true });
  expect(await refusalOf(bench.acme.runs.getRun({ runId }))).toMatchObject({
    reason: "RUN_NOT_FOUND",
  });
  expect(await refusalOf(bench.acme.runs.watchRun({ runId }))).toMatchObject({
    reason: "RUN_NOT_FOUND",
  });
  expect(await listed()).not.toContain(runId);
  expect(await inbox.list("acme", never)).toEqual([]);
  expect(await bench.acme.runs.deleteRun({ runId })).toMatchObject({ existed: false });
});

test("a run that has not ended is not deleted", async () => {
  const runId = await bench.queued();
  expect(await refusalOf(bench.acme.runs.deleteRun({ runId }))).toMatchObject({
    kind: "precondition",
    reason: "RUN_NOT_ENDED",
  });
  expect((await bench.acme.runs.getRun({ runId })).run?.status).toBe(RunStatus.QUEUED);
});

test("a rebuild restores no deleted run, and drops a row whose log is gone", async () => {
  const [deleted, kept, archived] = [await ended(), await ended(), await ended()];
  await expect.poll(listed).toEqual(expect.arrayContaining([deleted, kept, archived]));
  await bench.acme.runs.deleteRun({ runId: deleted });
  const archiver = await openArchiver(bench.nats, { graceMs: 0 });
  expect(await archiver.archive({ tenant: "acme", run: archived }, never)).toBe("archived");
  await (await openTable(bench.nats, RunSchema)).delete(`acme.${archived}`, never);
  // The log of the other one disappears without its row.
  await bench.nats.connection.request(
    "$JS.API.STREAM.PURGE.RUNS",
    JSON.stringify({ filter: `run.acme.${kept}.log` }),
  );
  const states = await openTable(bench.nats, ProjectionSchema);
  for await (const { rebuild } of requestRebuild(states, "runs", never)) {
    expect(rebuild?.failed ?? 0n).toBe(0n);
  }
  const left = await listed();
  expect(left).not.toContain(deleted);
  expect(left).not.toContain(kept);
  expect(left).toContain(archived);
});

test("a thread continues after a turn was deleted", async () => {
  const runId = await ended("t1");
  expect(await bench.acme.runs.deleteRun({ runId })).toMatchObject({ existed: true });
  const next = await ended("t1");
  const { messages } = await bench.acme.threads.listThreadMessages({ threadId: "t1" });
  expect(messages.map((message) => message.runId)).toEqual([runId, runId, next, next]);
});

test("a deletion that stopped in the middle of a log is completed by a repetition", async () => {
  const runId = await ended();
  const { connection } = bench.nats;
  const first = { seq: 1, next_by_subj: `run.acme.${runId}.log` };
  const reply = await connection.request("$JS.API.STREAM.MSG.GET.RUNS", JSON.stringify(first));
  const { message } = reply.json<{ readonly message: { readonly seq: number } }>();
  const deletion = JSON.stringify({ seq: message.seq });
  await connection.request("$JS.API.STREAM.MSG.DELETE.RUNS", deletion);
  expect(await bench.acme.runs.deleteRun({ runId })).toMatchObject({ existed: true });
  expect(await refusalOf(bench.acme.runs.getRun({ runId }))).toMatchObject({
    reason: "RUN_NOT_FOUND",
  });
});
