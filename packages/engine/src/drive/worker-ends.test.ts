import { RunStatus } from "@reeve/contracts/run";
import { emptyHead, foldHead, outputOf } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { countingModel, textOf } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

/** Speaks, and has the worker told to end soon in the middle of its first turn. */
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

/** Speaks, and then is silent until it is ended; asked again, it answers. */
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

describe("a worker that is to end soon", () => {
  test("listens to its model, gives the run back, and loses nothing", async () => {
    const ending = new AbortController();
    const stage = await new WorkerBench(interrupting(ending)).create();
    const stop = { now: never, drain: ending.signal };
    expect(await stage.drive("w1", 1, stop)).toBe("given back");
    expect(stage.executed).toEqual([]);
    expect(await stage.drive("w2")).toBe("acknowledged");
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(textOf(events)).toBe("turn 0 goes onturn 1 goes on");
    const asked = events.filter(({ event }) => event.case === "modelCallStarted");
    expect(asked).toHaveLength(2);
    expect(stage.executed).toHaveLength(1);
  });

  test("that may not wait any longer gives the run back at once, and its text is voided", async () => {
    const ending = new AbortController();
    const stage = await new WorkerBench(neverFinishing()).create();
    const driving = stage.drive("w1", 1, { now: ending.signal, drain: ending.signal });
    for await (const { events } of stage.log.follow(key, 0, never)) {
      if (events.some(({ event }) => event.case === "text")) break;
    }
    ending.abort();
    expect(await driving).toBe("given back");
    const said = (await stage.events()).find(({ event }) => event.case === "text");
    await stage.drive("w2", 1, undefined, 2);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    const voided = events.find(({ event }) => event.case === "textVoided");
    expect(voided?.event.value).toMatchObject({ firstSequence: said?.sequence });
    expect(outputOf(foldHead(emptyHead, events))).toBe("turn 0 goes on");
  });
});
