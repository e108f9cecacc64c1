import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { RunPorts } from "../ports/run-ports.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const stop = { now: never, drain: never };

/** A store in which reads are answered by a replica that may lag behind. */
class Lagging extends WorkerBench {
  /** The last event that the replica has. */
  arrived = Infinity;

  override ports(worker: string): RunPorts {
    const { log } = this;
    const read: RunPorts["log"]["read"] = async (key, tail, signal) => {
      const { events, tail: end } = await log.read(key, tail, signal);
      const there = events.filter(({ sequence }) => sequence <= this.arrived);
      if (there.length === events.length) return { events, tail: end };
      const behind = { sequence: this.arrived, revision: end.revision - 1 };
      return { events: there, tail: there.length === 0 ? tail : behind };
    };
    const [append, follow] = [log.append.bind(log), log.follow.bind(log)];
    return { ...super.ports(worker), log: { append, read, follow } };
  }
}

describe("a dispatch whose reason the replica has not yet is kept for a moment", () => {
  test("when the run is new", async () => {
    const stage = await new Lagging(countingModel(1)).create();
    stage.arrived = 0;
    expect(await stage.drive("w1")).toBe("given back");
    stage.arrived = Infinity;
    expect(await stage.drive("w1", 1, stop, 2)).toBe("acknowledged");
    expectWhole(await stage.events(), RunStatus.COMPLETED);
  });

  test("when a person has decided", async () => {
    const stage = await new Lagging(countingModel(1)).create({ hitlTools: ["count"] });
    await stage.drive("w1");
    stage.arrived = (await stage.events()).length;
    await stage.decide(ApprovalState.APPROVED);
    expect(await stage.drive("w2", 2)).toBe("given back");
    stage.arrived = Infinity;
    expect(await stage.drive("w2", 2, stop, 2)).toBe("acknowledged");
    expectWhole(await stage.events(), RunStatus.COMPLETED);
  });
});

test("a dispatch for which there is no reason is given back once, and then acknowledged", async () => {
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
