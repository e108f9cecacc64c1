import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type { Run } from "@reeve/contracts/run";
import {
  ListRunsRequestSchema,
  RunSchema,
  RunStatus,
  StartRunRequestSchema,
} from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { ToolCallFactSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { describe, expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import {
  ann,
  appendFacts,
  kindsOf,
  memoryPorts,
  storeAgent,
} from "../../../test/support/memory-ports.ts";
import { rebuildRuns } from "../../../test/support/rebuild-runs.ts";
import { deleteArtifactsOfThread } from "./delete-artifacts.ts";
import type { DeletePorts } from "./delete-run.ts";
import { deleteRun } from "./delete-run.ts";
import { listThreadMessages } from "../threads/list-thread-messages.ts";
import { listRuns, openRunLists } from "../list-runs.ts";
import { startRun } from "../start-run.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_deleted1" };
const other = { tenant: "acme", run: "run_kept0001" };
const thread = { tenant: "acme", thread: "t1" };
const approvalId = `${key.run}-2-0`;
const completed: ExternalFact = { case: "status", value: { status: RunStatus.COMPLETED } };
const answered: ExternalFact = { case: "toolResult", value: { result: { callId: "c1" } } };
const asked: ExternalFact = {
  case: "approval",
  value: { approval: { approvalId, runId: key.run, state: ApprovalState.APPROVED } },
};

/** Stores a run with everything that belongs to it. */
async function store(ports: MemoryPorts, { tenant, run }: typeof key): Promise<void> {
  await appendFacts(ports.log, run, { case: "runCreated", value: { tenant } }, asked, answered);
  await appendFacts(ports.log, run, completed);
  await ports.runs.put(`${tenant}.${run}`, create(RunSchema, { runId: run }), never);
  await ports.inbox.put(`${tenant}.${run}-2-0`, create(ApprovalSchema, { runId: run }), never);
  const fact = create(ToolCallFactSchema, { fact: { case: "started", value: {} } });
  for (const call of ["c1", "c2"]) {
    await ports.journal.append({ tenant, run, call }, emptyTail, [fact], never);
  }
  await ports.artifacts.put(tenant, { name: "a", mediaType: "", runId: run }, bytes(), never);
  const record = create(WorkspaceRecordSchema, { tenant, id: run });
  await ports.workspaces.records.put(`${tenant}.${run}`, record, never);
}

async function* bytes(): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new Uint8Array([1]));
}

/** Names everything that is stored of runs. */
async function stored(ports: MemoryPorts): Promise<readonly string[]> {
  const rows = [
    ...(await ports.runs.list("", never)),
    ...(await ports.inbox.list("", never)),
    ...(await ports.workspaces.records.list("", never)),
  ].map((row) => row.key);
  const logs = ports.log.batches.map(({ key: { run } }) => `log ${run}`);
  const journals = ports.journal.batches.map(({ key: { run, call } }) => `journal ${run} ${call}`);
  const artifacts = await ports.artifacts.list("acme", never);
  return [...rows, ...logs, ...journals, ...artifacts.map(({ runId }) => `artifact ${runId}`)];
}

type Step = "journals" | "log" | "artifacts" | "files" | "row";

/** The ports of a gateway that cannot perform one step of a deletion. */
function failingAt(ports: MemoryPorts, step: Step): DeletePorts {
  const down = () => Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, step));
  const { runs, artifacts, workspaces, remove } = ports;
  const list = (tenant: string) => artifacts.list(tenant, never);
  const get = (rowKey: string) => runs.get(rowKey, never);
  const put = (rowKey: string, row: Run) => runs.put(rowKey, row, never);
  return {
    ...ports,
    ...(step === "artifacts" && { artifacts: { list, delete: down } }),
    ...(step === "files" && {
      workspaces: { ...workspaces, records: { get: down, delete: down } },
    }),
    ...(step === "row" && { runs: { get, put, createFirst: down, deleteVersion: down } }),
    remove: {
      runs: step === "log" ? { removeThrough: down } : remove.runs,
      journals: step === "journals" ? { remove: down } : remove.journals,
    },
  };
}

/** Returns the ids of the runs that lists show. */
async function listed({ runs }: MemoryPorts): Promise<readonly string[]> {
  const end = new AbortController();
  const home = { folder: undefined, log: createLogger("test", "silent"), clock: bootClock };
  await using lists = openRunLists(runs, home, end.signal);
  lists.start();
  const { items } = await listRuns(lists, "acme", create(ListRunsRequestSchema), never);
  return items.map(({ runId }) => runId);
}

/** Starts a turn of a thread and completes it, without the end of the turn. */
async function completedTurn(ports: MemoryPorts, requestId = "r1"): Promise<string> {
  const request = { agentId: "writer", input: "hello", threadId: thread.thread, requestId };
  const { run } = await startRun(ports, ann, create(StartRunRequestSchema, request), never);
  await appendFacts(
    ports.log,
    run.runId,
    { case: "modelCallStarted", value: {} },
    { case: "text", value: { text: "hi" } },
    { case: "modelTurn", value: {} },
    completed,
  );
  return run.runId;
}

async function withTurn() {
  const ports = memoryPorts();
  await storeAgent(ports, "writer");
  return { ports, runId: await completedTurn(ports) };
}

describe("deleting a run", () => {
  test("removes its log, row, approvals, artifacts, files, and the journals of its finished calls, and nothing else", async () => {
    const ports = memoryPorts();
    await store(ports, other);
    const before = await stored(ports);
    await store(ports, key);
    expect(await deleteRun(ports, key, never)).toBe(true);
    expect(await stored(ports)).toEqual([
      ...before.slice(0, 5),
      `journal ${other.run} c1`,
      `journal ${other.run} c2`,
      `journal ${key.run} c2`,
      `artifact ${other.run}`,
    ]);
  });

  test("is refused before the run has ended, and changes nothing", async () => {
    const ports = memoryPorts();
    await appendFacts(ports.log, key.run, { case: "runCreated", value: { tenant: key.tenant } });
    await expect(deleteRun(ports, key, never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.RUN_NOT_ENDED,
      message: expect.stringContaining(`reeve cancel ${key.run}`) as string,
    });
    expect(await kindsOf(ports.log, key.run)).toEqual(["runCreated"]);
  });

  test("that does not exist has no effect, and drops a row that was left", async () => {
    const ports = memoryPorts();
    expect(await deleteRun(ports, key, never)).toBe(false);
    await ports.runs.put(`${key.tenant}.${key.run}`, create(RunSchema), never);
    expect(await deleteRun(ports, key, never)).toBe(true);
    expect(await stored(ports)).toEqual([]);
  });

  test("fails while others write its row, and drops it when it is repeated", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    const { runs } = ports;
    const contended = {
      get: (rowKey: string) => runs.get(rowKey, never),
      put: (rowKey: string, row: Run) => runs.put(rowKey, row, never),
      createFirst: (rowKey: string, row: Run) => runs.createFirst(rowKey, row, never),
      deleteVersion: () => Promise.resolve(false),
    };
    await expect(deleteRun({ ...ports, runs: contended }, key, never)).rejects.toMatchObject({
      kind: "unavailable",
    });
    await deleteRun(ports, key, never);
    expect(await runs.list("", never)).toEqual([]);
  });

  const beforeRemoval = ["journals", "log"] as const;
  const afterRemoval = ["artifacts", "files", "row"] as const;

  test.each([...beforeRemoval, ...afterRemoval])(
    "that stops at its %s leaves a whole run, or one that is gone and that a repetition deletes",
    async (step) => {
      const ports = memoryPorts();
      await store(ports, key);
      await expect(deleteRun(failingAt(ports, step), key, never)).rejects.toThrow(step);
      const left = await stored(ports);
      const isWhole = left.includes(`log ${key.run}`) && left.includes(`artifact ${key.run}`);
      const isGone = !left.includes(`log ${key.run}`);
      expect(isWhole || isGone).toBe(true);
      expect(await listed(ports)).toEqual(step === "journals" ? [key.run] : []);
      expect(await deleteRun(ports, key, never)).toBe(true);
      expect(await stored(ports)).toEqual([`journal ${key.run} c2`]);
    },
  );

  test.each(beforeRemoval)("that stops at its %s is undone by a rebuild", async (step) => {
    const ports = memoryPorts();
    await store(ports, key);
    await expect(deleteRun(failingAt(ports, step), key, never)).rejects.toThrow(step);
    await rebuildRuns(ports, "quick");
    expect(await listed(ports)).toEqual([key.run]);
  });

  test.each(afterRemoval)("that stops at its %s is completed by a rebuild", async (step) => {
    const ports = memoryPorts();
    await store(ports, key);
    await expect(deleteRun(failingAt(ports, step), key, never)).rejects.toThrow(step);
    await rebuildRuns(ports, "quick");
    expect(await stored(ports)).toEqual([`journal ${key.run} c2`]);
  });

  test("keeps the files and the row of a new run with the same id that a server does not know yet", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    let isCutOff = false;
    const { log } = ports;
    const unconfirmedLog: DeletePorts["unconfirmedLog"] = {
      isReplicated: true,
      read: (...given) => log.read(...given),
      settle: (signal) => log.settle(signal),
      async *readBatches(...given) {
        if (!isCutOff) yield* log.readBatches(...given);
      },
    };
    const runs: DeletePorts["remove"]["runs"] = {
      async removeThrough(...given) {
        await log.removeThrough(...given);
        isCutOff = true;
        await store(ports, key);
      },
    };
    const remove = { ...ports.remove, runs };
    await deleteRun({ ...ports, unconfirmedLog, remove }, key, never);
    const rows = await ports.runs.list("", never);
    const files = await ports.workspaces.records.list("", never);
    expect([...rows, ...files].map((row) => row.key)).toEqual([
      `acme.${key.run}`,
      `acme.${key.run}`,
    ]);
  });

  test("that a rebuild cannot complete fails the rebuild, so that it is repeated soon", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    await expect(deleteRun(failingAt(ports, "files"), key, never)).rejects.toThrow("files");
    const { workspaces } = failingAt(ports, "files");
    const rebuilt = await rebuildRuns({ ...ports, workspaces }, "quick");
    expect(rebuilt).toMatchObject({ repaired: 0n, failed: 1n });
    expect(await ports.runs.list("", never)).toHaveLength(1);
    expect(await rebuildRuns(ports, "quick")).toMatchObject({ repaired: 1n, failed: 0n });
  });

  test("by a rebuild completes only what a deletion began, not what follows the loss of a log", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    await ports.log.remove(key, never);
    await rebuildRuns(ports, "quick");
    expect(await ports.runs.list("", never)).toHaveLength(1);
    await rebuildRuns(ports, "thorough");
    expect(await ports.runs.list("", never)).toEqual([]);
    expect(await ports.artifacts.list("acme", never)).toHaveLength(1);
  });

  test("that is completed later keeps the artifacts of a turn of a thread", async () => {
    const { ports, runId } = await withTurn();
    const draft = { name: "a", mediaType: "", runId };
    await ports.artifacts.put("acme", draft, bytes(), never);
    const turn = { ...key, run: runId };
    await expect(deleteRun(failingAt(ports, "files"), turn, never)).rejects.toThrow("files");
    expect(await deleteRun(ports, turn, never)).toBe(true);
    expect(await ports.artifacts.list("acme", never)).toHaveLength(1);
  });

  test("succeeds in a store that has no room for the deletion of a row before something is removed", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    const full = new Failure("exhausted", ErrorReason.STORAGE_FULL, "full");
    const tight = {
      ...ports,
      runs: {
        get: (rowKey: string) => ports.runs.get(rowKey, never),
        put: () => Promise.reject(full),
        createFirst: (...row: Parameters<typeof ports.runs.createFirst>) =>
          ports.runs.createFirst(...row),
        deleteVersion: (...row: Parameters<typeof ports.runs.deleteVersion>) =>
          ports.log.batches.length > 0 ? Promise.reject(full) : ports.runs.deleteVersion(...row),
      },
    };
    expect(await deleteRun(tight, key, never)).toBe(true);
    expect(await ports.runs.list("", never)).toEqual([]);
    // A run whose row the index had not written yet leaves a trace too.
    await appendFacts(ports.log, other.run, { case: "runCreated", value: { tenant: "acme" } });
    await appendFacts(ports.log, other.run, completed);
    expect(await deleteRun(tight, other, never)).toBe(true);
    expect(await ports.runs.list("", never)).toEqual([]);
    const late = create(RunSchema, { runId: other.run });
    expect(await ports.runs.createFirst(`acme.${other.run}`, late, never)).toBeUndefined();
  });

  test("leaves a trace when it completes one that was interrupted while the log was removed", async () => {
    const ports = memoryPorts();
    await appendFacts(ports.log, key.run, { case: "runCreated", value: { tenant: "acme" } });
    await appendFacts(ports.log, key.run, completed);
    // Some servers remove the oldest batches first.
    const { log } = ports;
    const unconfirmedLog: DeletePorts["unconfirmedLog"] = {
      isReplicated: true,
      read: (...given) => log.read(...given),
      settle: (signal) => log.settle(signal),
      async *readBatches(...given) {
        for await (const batch of log.readBatches(...given)) if (batch.first > 1) yield batch;
      },
    };
    expect(await deleteRun({ ...ports, unconfirmedLog }, key, never)).toBe(true);
    expect(await stored(ports)).toEqual([]);
    const late = create(RunSchema, { runId: key.run });
    expect(await ports.runs.createFirst(`acme.${key.run}`, late, never)).toBeUndefined();
  });

  test("deletes the row that the index writes meanwhile", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    const rowKey = `${key.tenant}.${key.run}`;
    let writes = 0;
    const runs: DeletePorts["runs"] = {
      get: (...row) => ports.runs.get(...row),
      put: (...row) => ports.runs.put(...row),
      createFirst: (...row) => ports.runs.createFirst(...row),
      async deleteVersion(...row) {
        if (writes++ < 2) await ports.runs.put(rowKey, create(RunSchema), never);
        return await ports.runs.deleteVersion(...row);
      },
    };
    expect(await deleteRun({ ...ports, runs }, key, never)).toBe(true);
    expect(await ports.runs.get(rowKey, never)).toBeUndefined();
  });
});

describe("deleting a turn of a thread", () => {
  const page = { pageSize: 0, pageToken: "" };

  test("keeps its messages in the conversation, although the turn was still open", async () => {
    const { ports, runId } = await withTurn();
    await deleteRun(ports, { ...key, run: runId }, never);
    const { items } = await listThreadMessages(ports, thread, page, never);
    expect(items).toMatchObject([
      { runId, role: Role.USER, text: "hello" },
      { runId, role: Role.ASSISTANT, text: "hi" },
    ]);
    await repairThread(ports, thread, never);
    expect(await kindsOf(ports.log, runId)).toEqual([]);
  });

  test("keeps its artifacts until the thread is deleted", async () => {
    const { ports, runId } = await withTurn();
    const draft = { name: "a", mediaType: "", runId };
    const { artifactId } = await ports.artifacts.put("acme", draft, bytes(), never);
    await deleteRun(ports, { ...key, run: runId }, never);
    expect(await ports.artifacts.get("acme", artifactId, never)).toBeDefined();
    await deleteArtifactsOfThread(ports, thread, never);
    expect(await ports.artifacts.get("acme", artifactId, never)).toBeUndefined();
  });

  test("starts a new run with the request that started it", async () => {
    const { ports, runId } = await withTurn();
    await deleteRun(ports, { ...key, run: runId }, never);
    expect(await completedTurn(ports)).toBe(runId);
    expect(await kindsOf(ports.log, runId)).toContain("runCreated");
  });
});
