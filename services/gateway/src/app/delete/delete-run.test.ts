import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunSchema, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { ToolCallFactSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
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
import { deleteArtifactsOfThread } from "./delete-artifacts.ts";
import { deleteRun } from "./delete-run.ts";
import { listThreadMessages } from "../threads/list-thread-messages.ts";
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

  test("that stops at any point leaves no row, and a repetition completes it", async () => {
    const parts = ["journals", "artifacts", "workspaces", "runs"] as const;
    for (const part of parts) {
      const ports = memoryPorts();
      await store(ports, key);
      const down = () => Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, part));
      const broken = {
        ...ports,
        ...(part === "artifacts" && {
          artifacts: { list: () => ports.artifacts.list("acme", never), delete: down },
        }),
        ...(part === "workspaces" && {
          workspaces: { ...ports.workspaces, records: { get: down, delete: down } },
        }),
        remove: {
          runs: part === "runs" ? { remove: down } : ports.remove.runs,
          journals: part === "journals" ? { remove: down } : ports.remove.journals,
        },
      };
      await expect(deleteRun(broken, key, never)).rejects.toThrow(part);
      expect(await ports.runs.list("", never)).toEqual([]);
      expect(await ports.inbox.list("", never)).toEqual([]);
      expect(await deleteRun(ports, key, never)).toBe(true);
      expect(await stored(ports)).toEqual([`journal ${key.run} c2`]);
    }
  });

  test("succeeds in a store that has no room for the deletion of a row before something is removed", async () => {
    const ports = memoryPorts();
    await store(ports, key);
    const full = new Failure("exhausted", ErrorReason.STORAGE_FULL, "full");
    const tight = {
      ...ports,
      runs: {
        get: (rowKey: string) => ports.runs.get(rowKey, never),
        delete: (rowKey: string) =>
          ports.log.batches.length > 0 ? Promise.reject(full) : ports.runs.delete(rowKey, never),
      },
    };
    expect(await deleteRun(tight, key, never)).toBe(true);
    expect(await ports.runs.list("", never)).toEqual([]);
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
