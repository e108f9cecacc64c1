import { RunStatus } from "@reeve/contracts/run";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { AnswerNotNeeded } from "../ports/model-provider.ts";
import { countingModel, textOf } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

/** Aborts `ending` in the middle of its first answer. */
function interrupting(ending: AbortController): ModelProvider {
  const inner = countingModel(1);
  return {
    descriptor: inner.descriptor,
    format: inner.format,
    async *stream(request, signal) {
      for await (const part of inner.stream(request, signal)) {
        yield part;
        ending.abort();
      }
    },
  };
}

/** Stops in the middle of its first answer until it is aborted, and answers the second call. */
function neverFinishing(): ModelProvider {
  const inner = countingModel(0);
  let isFirst = true;
  return {
    descriptor: inner.descriptor,
    format: inner.format,
    async *stream(request, signal) {
      if (!isFirst) return yield* inner.stream(request, signal);
      isFirst = false;
      yield { kind: "text", text: "half an ans" };
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    },
  };
}

describe("a worker that drains", () => {
  test("waits for the answer of its model, gives the run back, and loses nothing", async () => {
    const ending = new AbortController();
    const bench = await new WorkerBench(interrupting(ending)).create();
    const stop = { now: never, drain: ending.signal };
    expect(await bench.drive("w1", 1, stop)).toBe("given back");
    expect(bench.executed).toEqual([]);
    expect(await bench.drive("w2")).toBe("acknowledged");
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 continuesturn 1 continues");
    const calls = events.filter(({ event }) => event.case === "modelCallStarted");
    expect(calls).toHaveLength(2);
    expect(bench.executed).toHaveLength(1);
  });

  test("gives the run back at once when its time is over, and the text is voided", async () => {
    const ending = new AbortController();
    const bench = await new WorkerBench(neverFinishing()).create();
    const driving = bench.drive("w1", 1, { now: ending.signal, drain: ending.signal });
    for await (const { events } of bench.log.follow(key, 0, never)) {
      if (events.some(({ event }) => event.case === "text")) break;
    }
    ending.abort();
    expect(await driving).toBe("given back");
    const text = (await bench.events()).find(({ event }) => event.case === "text");
    await bench.drive("w2", 1, undefined, 2);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    const voided = events.find(({ event }) => event.case === "textVoided");
    expect(voided?.event.value).toMatchObject({ firstSequence: text?.sequence });
    expect(outputOf(foldHead(emptyHead, events))).toBe("turn 0 continues");
  });
});

describe("a model that is answering when its worker stops", () => {
  const ending = new AbortController();
  const stop = { now: ending.signal, drain: ending.signal };
  test.each([
    ["is not needed if the run is cancelled", cancel, undefined, true],
    ["may be asked by another worker", () => ending.abort(), stop, false],
  ] as const)("%s", async (_, act, stops, isOver) => {
    const reasons: unknown[] = [];
    const inner = countingModel(0);
    const model: ModelProvider = {
      ...inner,
      async *stream(_request, signal) {
        yield { kind: "text", text: "half an ans" };
        const { promise: aborted, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => resolve(), { once: true });
        await act(bench);
        await aborted;
        reasons.push(signal.reason);
      },
    };
    const bench = await new WorkerBench(model).create();
    await bench.drive("w1", 1, stops);
    expect(reasons).toHaveLength(1);
    expect(reasons[0] instanceof AnswerNotNeeded).toBe(isOver);
  });
});

async function cancel(bench: WorkerBench): Promise<void> {
  await cancelRun(bench, key, { requestedBy: "ann", reason: "" }, never);
}
