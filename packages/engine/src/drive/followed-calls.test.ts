import { create } from "@bufbuild/protobuf";
import { RunStatus } from "@reeve/contracts/run";
import { ToolCallFactSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;

/** A run whose call is held: the test writes its journal. */
async function heldCall() {
  const bench = await new WorkerBench(countingModel(1)).create();
  const requested = Promise.withResolvers<string>();
  bench.onRequest = (callId) => {
    requested.resolve(callId);
    return "hold";
  };
  const write = async (fact: Parameters<typeof create<typeof ToolCallFactSchema>>[1]) => {
    const callKey = { ...key, call: await requested.promise };
    const { tail } = await bench.journal.read(callKey, emptyTail, never);
    await bench.journal.append(callKey, tail, [create(ToolCallFactSchema, fact)], never);
  };
  return {
    bench,
    reports: async (message: string) => {
      const callId = await requested.promise;
      await write({ fact: { case: "progress", value: { callId, message } } });
    },
    ends: async () => {
      const value = create(ToolResultSchema, { callId: await requested.promise, name: "count" });
      await write({ fact: { case: "result", value } });
    },
  };
}

const reportsIn = async (bench: WorkerBench) =>
  (await bench.events()).flatMap(({ event }) =>
    event.case === "mcpProgress" ? [event.value.message] : [],
  );

/** Resolves when the log has a report with this message. */
async function reported(bench: WorkerBench, message: string): Promise<void> {
  for await (const { events } of bench.log.follow(key, 0, never)) {
    const isThere = events.some(
      ({ event }) => event.case === "mcpProgress" && event.value.message === message,
    );
    if (isThere) return;
  }
}

test("the progress of a call is reported once, however many workers follow the call", async () => {
  const { bench, reports, ends } = await heldCall();
  for (const [index, message] of ["a", "b", "c"].entries()) {
    const stop = new AbortController();
    const driving = bench.drive(`w${index}`, index + 1, { now: stop.signal, drain: stop.signal });
    bench.lostDispatches.add(index + 1);
    await reports(message);
    await reported(bench, message);
    stop.abort(new DOMException("the worker stops", "AbortError"));
    await driving;
  }
  expect(await reportsIn(bench)).toEqual(["a", "b", "c"]);
  await ends();
  await bench.drive("last", 9);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(await reportsIn(bench)).toEqual(["a", "b", "c"]);
});
