import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { RunPorts } from "../ports/run-ports.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const stop = { now: never, drain: never };

/** A bench whose log is read from a replica that may lag. */
class LaggingBench extends WorkerBench {
  /** Sequence of the last event that the replica has. */
  replicated = Infinity;

  override ports(worker: string): RunPorts {
    const { log } = this;
    const read: RunPorts["log"]["read"] = async (key, tail, signal) => {
      const { events, batchTails } = await log.read(key, tail, signal);
      const seen = batchTails.filter(({ sequence }) => sequence <= this.replicated);
      const behind = seen.at(-1) ?? tail;
      const visible = events.filter(({ sequence }) => sequence <= behind.sequence);
      return { events: visible, tail: behind, batchTails: seen };
    };
    const [append, follow] = [log.append.bind(log), log.follow.bind(log)];
    return { ...super.ports(worker), log: { append, read, follow } };
  }
}

describe("a dispatch is redelivered later when the replica lacks its reason", () => {
  test("when the run is new", async () => {
    const bench = await new LaggingBench(countingModel(1)).create();
    bench.replicated = 0;
    expect(await bench.drive("w1")).toBe("given back");
    bench.replicated = Infinity;
    expect(await bench.drive("w1", 1, stop, 2)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("when an approval was decided", async () => {
    const bench = await new LaggingBench(countingModel(1)).create({ hitlTools: ["count"] });
    await bench.drive("w1");
    bench.replicated = (await bench.events()).length;
    await bench.decide(ApprovalState.APPROVED);
    expect(await bench.drive("w2", 2)).toBe("given back");
    bench.replicated = Infinity;
    expect(await bench.drive("w2", 2, stop, 2)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });
});

describe("a dispatch that names an event is returned until the log has that event", () => {
  test("when the run is new", async () => {
    const bench = await new LaggingBench(countingModel(1)).create();
    bench.dispatchedAfter = 1;
    bench.replicated = 0;
    for (const attempt of [1, 2, 10]) {
      expect(await bench.drive("w1", 1, stop, attempt)).toBe("given back");
    }
    bench.replicated = Infinity;
    expect(await bench.drive("w1", 1, stop, 11)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("when an approval was decided", async () => {
    const bench = await new LaggingBench(countingModel(1)).create({ hitlTools: ["count"] });
    await bench.drive("w1");
    bench.replicated = (await bench.events()).length;
    await bench.decide(ApprovalState.APPROVED);
    bench.dispatchedAfter = bench.replicated + 1;
    expect(await bench.drive("w2", 2)).toBe("given back");
    expect(await bench.drive("w2", 2, stop, 2)).toBe("given back");
    bench.replicated = Infinity;
    expect(await bench.drive("w2", 2, stop, 3)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("but not for ever, because a store may have lost the event", async () => {
    const bench = new LaggingBench(countingModel(1));
    bench.dispatchedAfter = 1;
    expect(await bench.drive("w1", 1, stop, 10)).toBe("given back");
    expect(await bench.drive("w1", 1, stop, 11)).toBe("acknowledged");
  });
});

test("a spent dispatch that names an event is acknowledged at once", async () => {
  const parked = await new WorkerBench(countingModel(1)).create({ hitlTools: ["count"] });
  await parked.drive("w1");
  parked.dispatchedAfter = 1;
  expect(await parked.drive("w2", 2)).toBe("acknowledged");
});

test("a dispatch without a reason in the log is given back once, and then acknowledged", async () => {
  const absent = new WorkerBench(countingModel(0));
  expect(await absent.drive("w")).toBe("given back");
  expect(await absent.drive("w", 1, stop, 2)).toBe("acknowledged");
  const parked = await new WorkerBench(countingModel(1)).create({ hitlTools: ["count"] });
  await parked.drive("w1");
  const before = await parked.events();
  expect(await parked.drive("w2", 2)).toBe("given back");
  expect(await parked.drive("w2", 2, stop, 2)).toBe("acknowledged");
  expect(await parked.events()).toEqual(before);
  expect([...absent.redeliveryDelaysMs, ...parked.redeliveryDelaysMs]).toEqual([250, 250]);
});
