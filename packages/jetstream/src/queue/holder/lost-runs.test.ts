import { setImmediate as endOfTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { QueueHolder as HolderRow } from "@reeve/contracts/queue";
import { HeldMessagesSchema, QueueHolderSchema } from "@reeve/contracts/queue";
import { expect, test } from "vitest";
import { MemoryTable } from "../../table/memory.ts";
import { takeLostRuns } from "./lost-runs.ts";

const never = new AbortController().signal;

// Requirement: DUR-3
test("the runs of a dead worker are taken when its messages are released, so that nobody releases those twice", async () => {
  const rows = new MemoryTable<HolderRow>();
  const row = create(QueueHolderSchema, {
    holder: "w1",
    crashed: true,
    carriedRuns: ["run_1"],
    held: [create(HeldMessagesSchema, { stream: "DISPATCH", consumer: "runs", sequences: [1n] })],
  });
  const marked = await rows.put("w1", row, never);
  const lost = takeLostRuns(rows, never)[Symbol.asyncIterator]();
  const taking = lost.next();
  await endOfTurn();
  // As the holder that releases the messages does.
  expect(await rows.update("w1", { ...row, held: [] }, marked.revision, never)).toBeDefined();
  expect(await taking).toMatchObject({ value: { worker: "w1", runs: ["run_1"] } });
  expect((await rows.get("w1", never))?.record).toMatchObject({ held: [], carriedRuns: [] });
  await lost.return?.();
});
