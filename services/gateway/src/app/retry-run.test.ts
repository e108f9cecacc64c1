import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { RunCreatedSchema, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import type { RunCreated } from "@reeve/contracts/run";
import { ToolDescriptorSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../test/support/memory-ports.ts";
import {
  ann,
  appendFacts,
  kindsOf,
  memoryPorts,
  storeAgent,
} from "../../test/support/memory-ports.ts";
import { deleteRun } from "./delete/delete-run.ts";
import { retryRun } from "./retry-run.ts";
import { startRun } from "./start-run.ts";

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

test("a retry withdraws the calls that the failed run left open, whose worker may be gone", async () => {
  const ports = memoryPorts();
  await appendFacts(
    ports.log,
    runId,
    { case: "runCreated", value: created },
    { case: "toolCallStarted", value: { callId: "open" } },
    { case: "status", value: { status: RunStatus.ERROR } },
  );
  await retryRun(ports, ann, retry, never);
  const { events } = await ports.journal.read(
    { tenant: "acme", run: runId, call: "open" },
    emptyTail,
    never,
  );
  expect(events.map(({ fact }) => fact.case)).toEqual(["cancelled"]);
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
  const gus = { ...ann, tenant: "globex", subject: "gus" };
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

test("a retry of a run whose collection got readers since is private, and loses the tools of others", async () => {
  const offered = [create(ToolDescriptorSchema, { name: "lookup", source: "client:bob" })];
  const searching = { ...created, collections: ["h"], offeredTools: offered };
  const ports = await ended(RunStatus.ERROR, create(RunCreatedSchema, searching));
  const draft = { collectionId: "h", title: "", readers: ["ann"] };
  await ports.knowledge.create(ann, draft, never);
  const run = await retryRun(ports, ann, retry, never);
  expect(await createdOf(ports, run.runId)).toMatchObject({
    collections: ["h"],
    collectionsRestricted: true,
    offeredTools: [],
  });
});

test("a retry of a private run stays private after its collection was opened", async () => {
  const own = { ...created, startedBy: "ann", collections: ["h"], collectionsRestricted: true };
  const ports = await ended(RunStatus.ERROR, create(RunCreatedSchema, own));
  await ports.knowledge.create(ann, { collectionId: "h", title: "", readers: [] }, never);
  const run = await retryRun(ports, ann, retry, never);
  expect(await createdOf(ports, run.runId)).toMatchObject({ collectionsRestricted: true });
});

const completed = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
const failed = { case: "status", value: { status: RunStatus.ERROR } } as const;
const first = { tenant: "acme", run: runId };
const second = retryIdOf("acme", runId);

/** Whether the files of the failed run are stored. */
async function hasFiles({ workspaces }: MemoryPorts): Promise<boolean> {
  return (await workspaces.records.get(`acme.${runId}`, never)) !== undefined;
}

async function withFiles(): Promise<MemoryPorts> {
  const ports = await ended(RunStatus.ERROR);
  const record = create(WorkspaceRecordSchema, { tenant: "acme", id: runId });
  await ports.workspaces.records.put(`acme.${runId}`, record, never);
  return ports;
}

function refusal(run: string) {
  return {
    kind: "precondition",
    reason: ErrorReason.RUN_CONTINUED,
    message: expect.stringContaining(`reeve delete ${run}`) as string,
    metadata: { run_id: run },
  };
}

test("of runs that continue each other, each is deleted after the later ones, and the files last", async () => {
  const ports = await withFiles();
  await retryRun(ports, ann, retry, never);
  await expect(deleteRun(ports, first, never)).rejects.toMatchObject(refusal(second));
  await appendFacts(ports.log, second, failed);
  const { runId: third } = await retryRun(ports, ann, { ...retry, runId: second }, never);
  await appendFacts(ports.log, third, completed);
  await expect(deleteRun(ports, first, never)).rejects.toMatchObject(refusal(second));
  const middle = { tenant: "acme", run: second };
  await expect(deleteRun(ports, middle, never)).rejects.toMatchObject(refusal(third));
  expect(await deleteRun(ports, { tenant: "acme", run: third }, never)).toBe(true);
  expect(await deleteRun(ports, middle, never)).toBe(true);
  expect(await hasFiles(ports)).toBe(true);
  expect(await deleteRun(ports, first, never)).toBe(true);
  expect(await hasFiles(ports)).toBe(false);
});

/** The ports of a gateway that lets `other` happen before it removes the log of a run. */
function beforeRemoval(ports: MemoryPorts, other: () => Promise<unknown>): MemoryPorts {
  const { runs } = ports.remove;
  const removeThrough = async (...given: Parameters<typeof runs.removeThrough>) => {
    await other();
    await runs.removeThrough(...given);
  };
  return { ...ports, remove: { ...ports.remove, runs: { removeThrough } } };
}

test("a run that is retried while it is deleted leaves no open run without its origin, whichever is first", async () => {
  const retried = await withFiles();
  const retryFirst = beforeRemoval(retried, () => retryRun(retried, ann, retry, never));
  expect(await deleteRun(retryFirst, first, never)).toBe(true);
  expect(await kindsOf(retried.log, runId)).toEqual([]);
  expect(await kindsOf(retried.log, second)).toContain("cancelRequested");
  expect(await hasFiles(retried)).toBe(true);
  expect(await deleteRun(retried, { tenant: "acme", run: second }, never)).toBe(true);
  expect(await hasFiles(retried)).toBe(false);

  const ports = await withFiles();
  const append = ports.log.append.bind(ports.log);
  Object.assign(ports.log, {
    append: async (...given: Parameters<typeof append>) => {
      if (given[2][0]?.event.case === "runCreated") await deleteRun(ports, first, never);
      return await append(...given);
    },
  });
  const refused = retryRun(ports, ann, retry, never);
  await expect(refused).rejects.toMatchObject({ kind: "not_found" });
  expect(await kindsOf(ports.log, second)).toContain("cancelRequested");
  expect(await hasFiles(ports)).toBe(false);
});

test("a repeated retry cancels a run that has not begun, and whose origin was deleted", async () => {
  const ports = await ended(RunStatus.ERROR);
  await retryRun(ports, ann, retry, never);
  // The gateway dies before it looks for the origin, which a deletion has removed.
  await ports.log.remove(first, never);
  await expect(retryRun(ports, ann, retry, never)).rejects.toMatchObject({ kind: "not_found" });
  expect(await kindsOf(ports.log, second)).toContain("cancelRequested");
});

test("a repeated retry returns a run that has begun, although its origin is gone", async () => {
  const ports = await ended(RunStatus.ERROR);
  await retryRun(ports, ann, retry, never);
  await appendFacts(ports.log, second, { case: "runClaimed", value: { worker: "w" } });
  await ports.log.remove(first, never);
  expect(await retryRun(ports, ann, retry, never)).toMatchObject({ runId: second });
  expect(await kindsOf(ports.log, second)).not.toContain("cancelRequested");
});

test("a deletion that stopped before it saw the retry cancels it when it is repeated", async () => {
  const ports = await withFiles();
  const stop = new AbortController();
  const retryFirst = beforeRemoval(ports, () => retryRun(ports, ann, retry, never));
  const { runs } = retryFirst.remove;
  const removeThrough = async (...given: Parameters<typeof runs.removeThrough>) => {
    await runs.removeThrough(...given);
    stop.abort(new Error("the process died"));
  };
  const dying = { ...retryFirst, remove: { ...ports.remove, runs: { removeThrough } } };
  await expect(deleteRun(dying, first, stop.signal)).rejects.toThrow("the process died");
  expect(await kindsOf(ports.log, second)).not.toContain("cancelRequested");
  await deleteRun(ports, first, never);
  expect(await kindsOf(ports.log, second)).toContain("cancelRequested");
});

test("a retry in a thread whose origin is deleted meanwhile ends its turn", async () => {
  const ports = await ended(
    RunStatus.ERROR,
    create(RunCreatedSchema, { ...created, threadId: "t" }),
  );
  const retryFirst = beforeRemoval(ports, () => retryRun(ports, ann, retry, never));
  await deleteRun(retryFirst, first, never);
  expect(await kindsOf(ports.log, second)).toContain("cancelRequested");
  const { openTurns } = await repairThread(ports, { tenant: "acme", thread: "t" }, never);
  expect(openTurns).toEqual([]);
});

test("a run that is retried again after its retry was deleted makes calls with other ids", async () => {
  const ports = await ended(RunStatus.ERROR);
  await retryRun(ports, ann, retry, never);
  const before = await createdOf(ports, second);
  await appendFacts(ports.log, second, completed);
  await deleteRun(ports, { tenant: "acme", run: second }, never);
  await retryRun(ports, ann, retry, never);
  const after = await createdOf(ports, second);
  expect(before?.callOffset).toBeGreaterThanOrEqual(1_000_000);
  expect(after?.callOffset).toBeGreaterThanOrEqual(1_000_000);
  expect(after?.callOffset).not.toBe(before?.callOffset);
});

test("no request id has the run id of a retry", async () => {
  const ports = await ended(RunStatus.ERROR);
  await storeAgent(ports, "known");
  const request = { agentId: "known", input: "hello", requestId: `retry:${runId}` };
  const { run } = await startRun(ports, ann, create(StartRunRequestSchema, request), never);
  const { origin } = await retryRun(ports, ann, retry, never);
  expect(second).not.toBe(run.runId);
  expect(origin?.runId).toBe(runId);
});
