import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { DispatchSchema, RunStatus } from "@reeve/contracts/run";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { driveRun } from "./drive-run.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

// Requirement: DUR-5
test("a worker extends its message during ten silent minutes of a model, and no longer after the end of the run", async () => {
  const requested = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const model: ModelProvider = {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream() {
      requested.resolve();
      await answered.promise;
      const more = { calls: [], usage: undefined, model: "test" };
      yield { kind: "turn", turn: { messageJson: "{}", finishReason: "stop", ...more } };
    },
  };
  const bench = await new WorkerBench(model).create();
  let extended = 0;
  const delivery = {
    message: create(DispatchSchema, { tenant: key.tenant, runId: key.run }),
    sequence: 1,
    attempt: 1,
    extend: () => void extended++,
    acknowledge: () => undefined,
    returnToQueue: () => undefined,
    abandon: () => undefined,
  };
  const ports = { ...bench.ports("w"), heartbeatMs: 1_000 };
  const driving = driveRun(delivery, ports, { now: never, drain: never });
  await requested.promise;
  const written = (await bench.events()).length;
  vi.advanceTimersByTime(600_000);
  expect(extended).toBe(600);
  expect(await bench.events()).toHaveLength(written);
  answered.resolve();
  await driving;
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  vi.advanceTimersByTime(60_000);
  expect(extended).toBe(600);
});
