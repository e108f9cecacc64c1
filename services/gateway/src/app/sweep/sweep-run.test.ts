import { create } from "@bufbuild/protobuf";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { expect, test } from "vitest";
import { appendFacts, memoryPorts } from "../../../test/support/memory-ports.ts";
import type { SweepPorts } from "./sweep-run.ts";
import { emptySweepRecord, sweepRun } from "./sweep-run.ts";

const never = new AbortController().signal;
const run = "run_swept";
const key = { tenant: "acme", run };

test("a run whose owner parks it while it is swept is not dispatched", async () => {
  const { log, dispatch } = memoryPorts();
  const claim = { worker: "w", epoch: 1, dispatchSequence: 7n };
  const created = { case: "runCreated", value: {} } as const;
  await appendFacts(log, run, created, { case: "runClaimed", value: claim });
  const ports: SweepPorts = {
    log,
    dispatch: {
      // An owner acknowledges its message after it has parked the run.
      holds: async () => {
        await appendFacts(log, run, { case: "runParked", value: {} });
        return false;
      },
      publish: (...args) => dispatch.publish(...args),
    },
  };
  const record = await sweepRun(ports, key, emptySweepRecord, never);
  expect(record.isDispatched).toBe(false);
  expect(dispatch.length).toBe(0);
});

test("a run is dispatched although one dispatch after another disappears directly after it was published", async () => {
  const { log, dispatch } = memoryPorts();
  await appendFacts(log, run, { case: "runCreated", value: {} });
  let lost = 0;
  const ports: SweepPorts = {
    log,
    dispatch: {
      publish: (...args) => dispatch.publish(...args),
      holds: async (...args) => {
        if (dispatch.length > 0 && lost < 5) {
          const taken = await dispatch.take(1, never)[Symbol.asyncIterator]().next();
          if (taken.done !== true) taken.value.acknowledge();
          lost++;
        }
        return await dispatch.holds(...args);
      },
    },
  };
  const first = await sweepRun(ports, key, emptySweepRecord, never);
  expect(first.isDispatched).toBe(false);
  const second = await sweepRun(ports, key, first, never);
  expect(second.isDispatched).toBe(true);
  expect(dispatch.length).toBe(1);
});

// Requirement: DUR-3
test("a run is dispatched again each time its dispatch disappears from the queue", async () => {
  const { log, dispatch } = memoryPorts();
  await appendFacts(log, run, { case: "runCreated", value: {} });
  let record = emptySweepRecord;
  for (let round = 1; round <= 8; round++) {
    record = await sweepRun({ log, dispatch }, key, record, never);
    expect(dispatch.length).toBe(1);
    const taking = dispatch.take(1, never)[Symbol.asyncIterator]();
    const lost = await taking.next();
    if (lost.done !== true) lost.value.acknowledge();
  }
});

// Requirement: DUR-3
test("a run of a worker of Temporal is left alone until its worker is known to be dead", async () => {
  const { log, dispatch, holders } = memoryPorts();
  const claim = { worker: "runtime-t", epoch: 1, dispatchSequence: 7n };
  const created = { case: "runCreated", value: {} } as const;
  await appendFacts(log, run, created, { case: "runClaimed", value: claim });
  const put = (crashed: boolean) => {
    const row = create(QueueHolderSchema, { holder: claim.worker, executor: "temporal", crashed });
    return holders.put(claim.worker, row, never);
  };
  await put(false);
  const record = await sweepRun({ log, dispatch, holders }, key, emptySweepRecord, never);
  expect(record.isDispatched).toBe(false);
  await put(true);
  expect((await sweepRun({ log, dispatch, holders }, key, record, never)).isDispatched).toBe(true);
});
