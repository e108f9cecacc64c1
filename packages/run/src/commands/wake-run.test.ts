import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { expect, test } from "vitest";
import { emptyHead, foldHead } from "../head/run-head.ts";
import { wakeRun } from "./wake-run.ts";

const signal = new AbortController().signal;
const key = { tenant: "acme", run: "run_12345678" };

test("a parked run is dispatched when its time to wake has come, and not before", async () => {
  const dispatch = new MemoryWorkQueue<Dispatch>();
  const wakeAt = timestampFromMs(60_000);
  const parked = create(RunEventSchema, {
    sequence: 1,
    event: { case: "runParked", value: { wakeAt } },
  });
  const head = foldHead(emptyHead, [parked]);
  await wakeRun({ dispatch }, key, head, { nowMs: 59_999, signal });
  expect(dispatch.length).toBe(0);
  await wakeRun({ dispatch }, key, head, { nowMs: 60_000, signal });
  expect(dispatch.length).toBe(1);
});
