import { randomUUID } from "node:crypto";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent, specOf } from "./support/bench-with-agent.ts";
import { refusalOf } from "./support/clients.ts";

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe("the runs of another tenant", () => {
  // Requirement: RES-11
  test("are not found by any method", async () => {
    const runId = await bench.queued();
    const refusal = { kind: "not_found", reason: "RUN_NOT_FOUND" };
    expect(await refusalOf(bench.globex.runs.getRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(bench.globex.runs.watchRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(bench.globex.runs.exportRunLog({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(bench.globex.runs.cancelRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(bench.globex.runs.sendMessage({ runId, text: "hi" }))).toMatchObject(
      refusal,
    );
    expect(await refusalOf(bench.globex.runs.retryRun({ runId }))).toMatchObject(refusal);
    expect(await bench.globex.runs.deleteRun({ runId })).toMatchObject({ existed: false });
    expect((await bench.globex.runs.listRuns({})).runs).toEqual([]);
    expect((await bench.globex.runs.listRuns({ filter: { text: runId } })).runs).toEqual([]);
    expect((await bench.globex.runs.countRuns({})).statuses).toEqual([]);
    expect((await bench.acme.runs.getRun({ runId })).run?.status).toBe(RunStatus.QUEUED);
  });

  test("and its threads are not found, and a thread with the same id is another thread", async () => {
    const request = { agentId: "known", input: "hello", threadId: "shared" };
    await bench.acme.runs.startRun(request);
    const refusal = { kind: "not_found", reason: "THREAD_NOT_FOUND" };
    const { threads } = bench.globex;
    expect(await refusalOf(threads.getThread({ threadId: "shared" }))).toMatchObject(refusal);
    expect(await refusalOf(threads.listThreadMessages({ threadId: "shared" }))).toMatchObject(
      refusal,
    );
    expect(await refusalOf(threads.deleteThread({ threadId: "shared" }))).toMatchObject(refusal);
    expect((await threads.listThreads({})).threads).toEqual([]);
  });

  test("do not share their request ids, agents, or artifacts", async () => {
    const requestId = randomUUID();
    const request = { agentId: "known", input: "hello", requestId };
    const { run } = await bench.acme.runs.startRun(request);
    expect(await refusalOf(bench.globex.runs.startRun(request))).toMatchObject({
      reason: "AGENT_NOT_FOUND",
    });
    const { agents } = bench.globex;
    const unknown = { reason: "AGENT_NOT_FOUND" };
    expect(await refusalOf(agents.updateAgent({ spec: specOf("known") }))).toMatchObject(unknown);
    expect(await refusalOf(agents.getAgent({ agentId: "known" }))).toMatchObject(unknown);
    expect(await refusalOf(agents.listAgentRevisions({ agentId: "known" }))).toMatchObject(unknown);
    expect(await refusalOf(agents.deleteAgent({ agentId: "known" }))).toMatchObject(unknown);
    await agents.createAgent({ spec: specOf("known") });
    const other = await bench.globex.runs.startRun({ ...request, input: "another" });
    expect(other.run?.runId).not.toBe(run?.runId);
    const content = new Uint8Array([1]);
    const { artifact } = await bench.acme.artifacts.createArtifact({
      header: { name: "a" },
      content,
    });
    const { artifactId = "" } = artifact ?? {};
    expect(await refusalOf(bench.globex.artifacts.downloadArtifact({ artifactId }))).toMatchObject({
      reason: "ARTIFACT_NOT_FOUND",
    });
    expect(await bench.globex.artifacts.deleteArtifact({ artifactId })).toMatchObject({
      existed: false,
    });
    expect((await bench.acme.artifacts.listArtifacts({})).artifacts).toHaveLength(1);
  });
});

test("the audit trail of another tenant, and events without a tenant, are not listed", async () => {
  const runId = await bench.queued();
  const listed = async () => (await bench.acme.audit.listAuditEvents({ resourceId: runId })).events;
  await expect.poll(listed).toHaveLength(1);
  const others = await bench.globex.audit.listAuditEvents({});
  expect(others.events.filter(({ tenant }) => tenant !== "globex")).toEqual([]);
  expect(
    await refusalOf(bench.globex.audit.listAuditEvents({ withoutTenant: true })),
  ).toMatchObject({ kind: "denied", reason: "PERMISSION_DENIED" });
});
