import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { RunCreatedSchema, RunStatus } from "@reeve/contracts/run";
import type { RunCreated } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../test/support/memory-ports.ts";
import { ann, appendFacts, kindsOf, memoryPorts } from "../../test/support/memory-ports.ts";
import { deleteRun } from "./delete/delete-run.ts";
import { retryRun } from "./retry-run.ts";

const never = new AbortController().signal;
const runId = "run_failed01";
const retry = { $typeName: "reeve.run.v1.RetryRunRequest", runId } as const;
const created: RunCreated = create(RunCreatedSchema, {
  tenant: "acme",
  agentId: "known",
  agentRevision: 3,
  spec: { id: "known", name: "known", model: "known" },
  input: "hello",
  labels: { team: "a" },
  startedBy: "bob",
});

/** Stores a run of `acme` that ended with a status. */
async function ended(status: RunStatus, value = created): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await appendFacts(ports.log, runId, { case: "runCreated", value });
  await appendFacts(ports.log, runId, { case: "status", value: { status } });
  return ports;
}

async function createdOf(ports: MemoryPorts, run: string): Promise<RunCreated | undefined> {
  const { events } = await ports.log.read({ tenant: "acme", run }, emptyTail, never);
  const [first] = events;
  return first?.event.case === "runCreated" ? first.event.value : undefined;
}

test("a retry is a new run of the same revision, labels, and files, dispatched once", async () => {
  const ports = await ended(RunStatus.ERROR);
  const run = await retryRun(ports, ann, retry, never);
  expect(run).toMatchObject({ status: RunStatus.QUEUED, origin: { runId, sequence: 1 } });
  expect(await createdOf(ports, run.runId)).toMatchObject({
    agentRevision: 3,
    input: "hello",
    labels: { team: "a" },
    startedBy: "ann",
    workspaceId: runId,
    inherited: { runIds: [runId] },
  });
  const again = await Promise.all([1, 2, 3].map(() => retryRun(ports, ann, retry, never)));
  expect(again.map((each) => each.runId)).toEqual([run.runId, run.runId, run.runId]);
  expect(await kindsOf(ports.log, run.runId)).toEqual(["runCreated"]);
  expect(ports.dispatch.length).toBe(1);
  // Nothing follows the end of the failed run.
  expect(await kindsOf(ports.log, runId)).toEqual(["runCreated", "status"]);
});

test.each([RunStatus.COMPLETED, RunStatus.CANCELLED, RunStatus.STARTING])(
  "a run that has not failed is not retried: %s",
  async (status) => {
    const refusal = { kind: "precondition", reason: ErrorReason.RUN_NOT_FAILED };
    await expect(retryRun(await ended(status), ann, retry, never)).rejects.toMatchObject(refusal);
  },
);

test("a run whose model does not exist any more, and one of another tenant, are refused", async () => {
  const spec = create(AgentSpecSchema, { id: "known", name: "known", model: "gone" });
  const gone = create(RunCreatedSchema, { ...created, spec });
  const ports = await ended(RunStatus.ERROR, gone);
  await expect(retryRun(ports, ann, retry, never)).rejects.toMatchObject({ kind: "precondition" });
  const gus = { tenant: "globex", subject: "gus" };
  await expect(retryRun(ports, gus, retry, never)).rejects.toMatchObject({ kind: "not_found" });
});

test("a retry is the next turn of the thread, and is refused while another run is in progress", async () => {
  const inThread = create(RunCreatedSchema, { ...created, threadId: "t" });
  const ports = await ended(RunStatus.ERROR, inThread);
  const run = await retryRun(ports, ann, retry, never);
  const { openTurns } = await repairThread(ports, { tenant: "acme", thread: "t" }, never);
  expect(openTurns.map((turn) => turn.runId)).toEqual([run.runId]);
  const other = "run_failed02";
  await appendFacts(ports.log, other, { case: "runCreated", value: inThread });
  const failed = { case: "status", value: { status: RunStatus.ERROR } } as const;
  await appendFacts(ports.log, other, failed);
  await expect(retryRun(ports, ann, { ...retry, runId: other }, never)).rejects.toMatchObject({
    reason: ErrorReason.THREAD_BUSY,
  });
});

test("a failed run is not deleted before the run that continues it in its files has ended", async () => {
  const ports = await ended(RunStatus.ERROR);
  const { runId: open } = await retryRun(ports, ann, retry, never);
  const key = { tenant: "acme", run: runId };
  await expect(deleteRun(ports, key, never)).rejects.toMatchObject({
    reason: ErrorReason.RUN_NOT_ENDED,
    metadata: { run_id: open },
  });
  await appendFacts(ports.log, open, { case: "status", value: { status: RunStatus.COMPLETED } });
  expect(await deleteRun(ports, key, never)).toBe(true);
});
