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
import { ToolCallFactSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import type { DeletePorts } from "../../src/app/delete/delete-run.ts";
import { listRuns, openRunLists } from "../../src/app/list-runs.ts";
import { startRun } from "../../src/app/start-run.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { ann, appendFacts, memoryPorts, storeAgent } from "./memory-ports.ts";

const never = new AbortController().signal;

/** Names the log of a run. */
interface RunKey {
  readonly tenant: string;
  readonly run: string;
}

/** The run that tests delete. */
export const key: RunKey = { tenant: "acme", run: "run_deleted1" };
/** The run that tests keep. */
export const other: RunKey = { tenant: "acme", run: "run_kept0001" };
/** The thread of `withTurn`. */
export const thread = { tenant: "acme", thread: "t1" } as const;
const approvalId = `${key.run}-2-0`;
/** The fact with which a run ends. */
export const completed: ExternalFact = { case: "status", value: { status: RunStatus.COMPLETED } };
const answered: ExternalFact = { case: "toolResult", value: { result: { callId: "c1" } } };
const asked: ExternalFact = {
  case: "approval",
  value: { approval: { approvalId, runId: key.run, state: ApprovalState.APPROVED } },
};

/** Stores an ended run with everything that belongs to it. */
export async function store(ports: MemoryPorts, { tenant, run }: RunKey): Promise<void> {
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

/** The content of an artifact of one byte. */
export async function* bytes(): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new Uint8Array([1]));
}

/** Names everything that is stored of runs. */
export async function stored(ports: MemoryPorts): Promise<readonly string[]> {
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

/** A step of a deletion, by what it removes. */
export type Step = "journals" | "log" | "artifacts" | "files" | "row";

/** The ports of a gateway that cannot perform one step of a deletion. */
export function failingAt(ports: MemoryPorts, step: Step): DeletePorts {
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
export async function listed({ runs }: MemoryPorts): Promise<readonly string[]> {
  const end = new AbortController();
  const home = { folder: undefined, log: createLogger("test", "silent"), clock: bootClock };
  await using lists = openRunLists(runs, home, end.signal);
  lists.start();
  const { items } = await listRuns(lists, "acme", create(ListRunsRequestSchema), never);
  return items.map(({ runId }) => runId);
}

/** Starts a turn of a thread and completes it, without the end of the turn. */
export async function completedTurn(ports: MemoryPorts, requestId = "r1"): Promise<string> {
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

/** Starts and completes a turn of a thread in a store of its own. */
export async function withTurn(): Promise<{ readonly ports: MemoryPorts; readonly runId: string }> {
  const ports = memoryPorts();
  await storeAgent(ports, "writer");
  return { ports, runId: await completedTurn(ports) };
}
