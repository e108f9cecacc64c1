import { create } from "@bufbuild/protobuf";
import { RunStatus } from "@reeve/contracts/run";
import { ToolCallFactSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

/** Returns the ports of a worker that reports each request of a call. */
function reporting(bench: WorkerBench, worker: string, onRequest: (callId: string) => void) {
  const ports = bench.ports(worker);
  const toolCalls: typeof ports.toolCalls = async (pool) => {
    const queue = await ports.toolCalls(pool);
    return {
      ...queue,
      publish: async (request, options, signal) => {
        onRequest(request.call?.callId ?? "");
        return await queue.publish(request, options, signal);
      },
    };
  };
  return { ...ports, toolCalls };
}

/** A run whose worker died while a toolhost executed its call, which it had taken by the request at a sequence. */
async function startedCall(requestSequence: bigint) {
  const bench = await new WorkerBench(countingModel(1)).create();
  bench.onRequest = () => "hold";
  const requested = Promise.withResolvers<string>();
  const stop = new AbortController();
  const ports = reporting(bench, "w1", requested.resolve);
  const driving = bench.drive("w1", 1, { now: stop.signal, drain: stop.signal }, 1, ports);
  const callKey = { ...key, call: await requested.promise };
  const write = async (fact: Parameters<typeof create<typeof ToolCallFactSchema>>[1]) => {
    const { tail } = await bench.journal.read(callKey, emptyTail, never);
    await bench.journal.append(callKey, tail, [create(ToolCallFactSchema, fact)], never);
  };
  await write({ fact: { case: "started", value: { host: "gone", requestSequence } } });
  stop.abort(new DOMException("the worker stops", "AbortError"));
  await driving;
  bench.lostDispatches.add(1);
  const ends = () =>
    write({ fact: { case: "result", value: create(ToolResultSchema, { callId: callKey.call }) } });
  return { bench, callId: callKey.call, ends };
}

test("a call that was handed over, and whose process is gone, is requested again at once", async () => {
  const { bench, callId, ends } = await startedCall(0n);
  const requested: string[] = [];
  const ports = reporting(bench, "w2", (again) => {
    requested.push(again);
    void ends();
  });
  await bench.drive("w2", 2, undefined, 1, ports);
  expect(requested).toEqual([callId]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

test("a call that has started by a message is left to that message", async () => {
  const { bench, ends } = await startedCall(7n);
  const requested: string[] = [];
  const ports = reporting(bench, "w2", (again) => void requested.push(again));
  const driving = bench.drive("w2", 2, undefined, 1, ports);
  await ends();
  await driving;
  expect(requested).toEqual([]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

test("a call is requested with the knowledge that its run is open, which its owner has just appended to", async () => {
  const bench = await new WorkerBench(countingModel(1)).create();
  const ports = bench.ports("w1");
  const known: (boolean | undefined)[] = [];
  const toolCalls: typeof ports.toolCalls = async (pool) => {
    const queue = await ports.toolCalls(pool);
    return {
      ...queue,
      publish: async (request, options, signal) => {
        known.push(options.isRunOpen?.());
        return await queue.publish(request, options, signal);
      },
    };
  };
  await bench.drive("w1", 1, undefined, 1, { ...ports, toolCalls });
  expect(known).toEqual([true]);
});
