import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema, RunStatus } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { Mailbox } from "@reeve/platform/async/coordination/mailbox";
import { expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";
import { workRuns } from "./work-runs.ts";

const never = new AbortController().signal;

test("a worker that is offered the message of its own run continues, and settles the new delivery", async () => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inner = countingModel(0);
  let calls = 0;
  const model: ModelProvider = {
    ...inner,
    async *stream(request, signal) {
      calls++;
      asked.resolve();
      await answer.promise;
      yield* inner.stream(request, signal);
    },
  };
  const bench = await new WorkerBench(model).create();
  const settled: string[] = [];
  const end = new AbortController();
  const offer = (attempt: number): Delivery<Dispatch> => ({
    message: create(DispatchSchema, { tenant: key.tenant, runId: key.run }),
    sequence: 1,
    attempt,
    extend: () => undefined,
    acknowledge: () => {
      settled.push(`acknowledged ${attempt}`);
      end.abort();
    },
    returnToQueue: () => void settled.push(`returned ${attempt}`),
    abandon: () => void settled.push(`abandoned ${attempt}`),
  });
  using offered = new Mailbox<Delivery<Dispatch>>(10);
  const dispatch = {
    async *take(_: unknown, signal: AbortSignal) {
      for (;;) yield* await offered.take(signal);
    },
  };
  const working = workRuns(dispatch, bench.ports("w"), 1, { now: never, drain: end.signal });
  offered.post(offer(1));
  await asked.promise;
  offered.post(offer(2));
  await expect.poll(() => settled).toEqual(["abandoned 1"]);
  answer.resolve();
  await working;
  expect(settled).toEqual(["abandoned 1", "acknowledged 2"]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(calls).toBe(1);
});
