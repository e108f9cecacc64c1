import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { appendFacts, kindsOf, memoryPorts } from "../../../test/support/memory-ports.ts";
import { completed, key, other, store, stored } from "../../../test/support/stored-runs.ts";
import type { DeletePorts } from "./delete-run.ts";
import { deleteRun } from "./delete-run.ts";

const never = new AbortController().signal;

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
