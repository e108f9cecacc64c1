import { create } from "@bufbuild/protobuf";
import { RunSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { appendFacts, memoryPorts } from "../../../test/support/memory-ports.ts";
import { rebuildRuns } from "../../../test/support/rebuild-runs.ts";
import {
  bytes,
  completed,
  failingAt,
  key,
  listed,
  store,
  stored,
  withTurn,
} from "../../../test/support/stored-runs.ts";
import type { DeletePorts } from "./delete-run.ts";
import { deleteRun } from "./delete-run.ts";

const never = new AbortController().signal;

describe("deleting a run", () => {
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
});
