import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { runUsesReserve } from "@reeve/jetstream/log/reserve-use";
import { storeFailure, storeFull } from "@reeve/jetstream/streams/errors";
import { abortable } from "@reeve/platform/async/abortable";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { countingModel, textOf } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

/** More than what ends a run may take from the reserve. */
const longTextBytes = 20_000;

/** A bench whose store takes nothing but what may use its reserve while it is full. Its clock stands still. */
class FullBench extends WorkerBench {
  isFull = false;
  refused = 0;
  /** Ends the pause of an owner that waits for room. */
  wake = () => {};

  override ports(worker: string): RunPorts {
    const { log } = this;
    const append: RunPorts["log"]["append"] = async (run, tail, events, signal) => {
      if (!this.isFull || runUsesReserve(events, longTextBytes)) {
        return await log.append(run, tail, events, signal);
      }
      this.refused++;
      throw storeFailure(storeFull);
    };
    const sleep = async (delayMs: number, signal: AbortSignal) => {
      if (delayMs < 5_000) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      await abortable(promise, signal);
    };
    const [read, follow] = [log.read.bind(log), log.follow.bind(log)];
    const clock = { now: () => 0, sleep };
    return { ...super.ports(worker), log: { append, read, follow }, clock };
  }
}

/** Streams a text of many parts. The store is full from its third part on. */
function fillingModel(bench: () => FullBench): ModelProvider & { readonly whole: string } {
  const inner = countingModel(0);
  const parts = Array.from({ length: 100 }, (_, index) => `word ${index} `);
  return {
    descriptor: inner.descriptor,
    format: inner.format,
    whole: parts.join(""),
    async *stream(request, signal) {
      for (const [index, text] of parts.entries()) {
        if (index === 2) bench().isFull = true;
        yield { kind: "text", text };
        await new Promise(setImmediate);
      }
      for await (const part of inner.stream(request, signal)) {
        if (part.kind === "turn") yield part;
      }
    },
  };
}

async function filling() {
  const model = fillingModel(() => bench);
  const bench: FullBench = new FullBench(model);
  await bench.create();
  return { bench, model };
}

describe("a run that finds the store full", () => {
  test("waits with its text until there is room, and loses none of it", async () => {
    const { bench, model } = await filling();
    const driving = bench.drive("w1");
    await expect.poll(() => bench.refused).toBeGreaterThan(0);
    bench.wake();
    await expect.poll(() => bench.refused).toBeGreaterThan(1);
    expect(textOf(await bench.events()).length).toBeLessThan(100);
    bench.isFull = false;
    bench.wake();
    expect(await driving).toBe("acknowledged");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe(model.whole);
  });

  test("does not try to append each part of an answer", async () => {
    const { bench, model } = await filling();
    const driving = bench.drive("w1");
    await expect.poll(() => bench.refused).toBe(1);
    // All parts of the answer arrive, and none of them is an attempt.
    for (let part = 0; part < 300; part++) await new Promise(setImmediate);
    expect(bench.refused).toBe(1);
    bench.isFull = false;
    bench.wake();
    expect(await driving).toBe("acknowledged");
    expect(textOf(await bench.events())).toBe(model.whole);
  });

  test("ends at once when it is cancelled meanwhile", async () => {
    const { bench } = await filling();
    const driving = bench.drive("w1");
    await expect.poll(() => bench.refused).toBe(1);
    const { log, journal } = bench.ports("gateway");
    const ports = { log, journal, dispatch: bench.dispatch };
    await cancelRun(ports, key, { requestedBy: "ann", reason: "enough" }, never);
    expect(await driving).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.CANCELLED);
    expect(bench.refused).toBe(1);
  });

  test("goes back to the queue without a claim when it has no owner", async () => {
    const bench = await new FullBench(countingModel(1)).create();
    bench.isFull = true;
    for (const attempt of [1, 2, 30]) {
      expect(await bench.drive("w1", 1, undefined, attempt)).toBe("given back");
    }
    expect(bench.redeliveryDelaysMs).toEqual([15_000, 15_000, 15_000]);
    expect(await bench.events()).toHaveLength(1);
    bench.isFull = false;
    expect(await bench.drive("w1", 1, undefined, 31)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });
});

test("the refusal of a full store names its reason", () => {
  expect(storeFailure(storeFull)).toMatchObject({ reason: ErrorReason.STORAGE_FULL });
});
