import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { RunSchema, RunStatus } from "@reeve/contracts/run";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import { appendFacts, kindsOf, memoryPorts } from "../../../test/support/memory-ports.ts";
import { deleteRun } from "./delete-run.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_deleted1" };
const rowKey = `${key.tenant}.${key.run}`;

/** Stores a run that has ended, with its row, an artifact, and files. */
async function store({ log, runs, artifacts, workspaces }: MemoryPorts): Promise<void> {
  const completed = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
  await appendFacts(log, key.run, { case: "runCreated", value: { tenant: key.tenant } });
  await appendFacts(log, key.run, completed);
  await runs.put(rowKey, create(RunSchema, { runId: key.run }), never);
  await artifacts.put(key.tenant, { name: "a", mediaType: "", runId: key.run }, bytes(), never);
  const record = create(WorkspaceRecordSchema, { tenant: key.tenant, id: key.run });
  await workspaces.records.put(rowKey, record, never);
}

async function* bytes(): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new Uint8Array([1]));
}

/** Lets `other` happen after the log is removed. */
function afterRemoval(ports: MemoryPorts, other: () => Promise<unknown>): MemoryPorts {
  const removeThrough: MemoryPorts["remove"]["runs"]["removeThrough"] = async (...given) => {
    await ports.remove.runs.removeThrough(...given);
    await other();
  };
  return { ...ports, remove: { ...ports.remove, runs: { removeThrough } } };
}

async function expectWhole({ log, runs, artifacts, workspaces }: MemoryPorts): Promise<void> {
  expect(await kindsOf(log, key.run)).toEqual(["runCreated", "status"]);
  expect(await runs.list("", never)).toHaveLength(1);
  expect(await artifacts.list(key.tenant, never)).toHaveLength(1);
  expect(await workspaces.records.list("", never)).toHaveLength(1);
}

test("a deletion that is refused because a retry starts meanwhile leaves the run in lists", async () => {
  const ports = memoryPorts();
  await store(ports);
  const slow = Object.create(ports.log) as MemoryPorts["log"];
  slow.read = async (...given) => {
    const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
    await appendFacts(ports.log, retryIdOf(key.tenant, key.run), created);
    return await ports.log.read(...given);
  };
  const refused = deleteRun({ ...ports, log: slow }, key, never);
  await expect(refused).rejects.toMatchObject({ reason: ErrorReason.RUN_CONTINUED });
  expect((await ports.runs.get(rowKey, never))?.record).toMatchObject({ deleting: false });
});

test("a new run with the same id survives a deletion that removed the log of the earlier one", async () => {
  const ports = memoryPorts();
  await store(ports);
  expect(
    await deleteRun(
      afterRemoval(ports, () => store(ports)),
      key,
      never,
    ),
  ).toBe(true);
  expect(await kindsOf(ports.log, key.run)).toEqual(["runCreated", "status"]);
  expect(await ports.artifacts.list(key.tenant, never)).toHaveLength(2);
  expect(await ports.workspaces.records.list("", never)).toHaveLength(1);
  expect(await ports.runs.list("", never)).toHaveLength(1);
});

test("a new run with the same id survives a deletion that another one was ahead of", async () => {
  const ports = memoryPorts();
  await store(ports);
  // The new run starts after the log was found to be gone.
  const slow = Object.create(ports.log) as MemoryPorts["log"];
  slow.read = async (...given) => {
    expect(await deleteRun(ports, key, never)).toBe(true);
    const gone = await ports.log.read(...given);
    await store(ports);
    return gone;
  };
  await deleteRun({ ...ports, log: slow }, key, never);
  await expectWhole(ports);
});
