import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { expect, test } from "vitest";
import { benchWith, hooksIn } from "../../../test/support/plugins/plugin-bench.ts";
import type { MemoryPlugin } from "../../../test/support/plugins/memory-plugins.ts";
import type { WorkerBench } from "../../../test/support/worker-bench.ts";
import { expectWhole, key } from "../../../test/support/worker-bench.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";

const never = new AbortController().signal;
const { ACTIVATE, RUN_START, RUN_END, DEACTIVATE } = HookPhase;

const listening: MemoryPlugin = {
  descriptor: { phases: [ACTIVATE, RUN_START, RUN_END, DEACTIVATE] },
};

const cancel = async (bench: WorkerBench) =>
  await cancelRun(
    { log: bench.log, dispatch: bench.dispatch, journal: bench.journal },
    key,
    { requestedBy: "ada", reason: "no longer needed" },
    never,
  );

/** Drives a cancelled run by the dispatch of its cancellation. */
async function driveCancelled(bench: WorkerBench) {
  for await (const { message } of bench.dispatch.take(1, never)) {
    bench.dispatchesCancellation = message.cancelled;
    bench.dispatchedAfter = message.afterSequence;
    return await bench.drive("w2", 2);
  }
  return "";
}

// Requirement: RES-5
test("a plugin is activated before a run starts, and deactivated after it has ended", async () => {
  const { bench, memory } = await benchWith({ guard: listening });
  await bench.drive("w");
  expect(memory.phases).toEqual(["ACTIVATE", "RUN_START", "RUN_END", "DEACTIVATE"]);
  expect(memory.requests.at(-1)).toMatchObject({
    hookId: "run_memory:root:0:deactivate:guard",
    data: { case: "runEnd", value: { status: "completed" } },
  });
  expect((await hooksIn(bench)).map(({ phase }) => phase)).toEqual([ACTIVATE, RUN_START, RUN_END]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

test("a plugin that stops its run is deactivated too", async () => {
  const { bench, memory } = await benchWith({
    guard: {
      ...listening,
      hook: ({ phase }) => (phase === RUN_START ? { verdict: { case: "stop", value: {} } } : {}),
    },
  });
  await bench.drive("w");
  expect(memory.phases).toEqual(["ACTIVATE", "RUN_START", "DEACTIVATE"]);
  expect(memory.requests.at(-1)?.data.value).toMatchObject({ status: "error" });
});

// Requirement: RES-5
test("a plugin learns once that its run was cancelled, from the worker that takes the cancellation", async () => {
  const { bench, memory } = await benchWith({ guard: listening });
  const requested = Promise.withResolvers<void>();
  bench.onRequest = () => {
    requested.resolve();
    return "hold";
  };
  const driving = bench.drive("w1");
  await requested.promise;
  await cancel(bench);
  expect(await driving).toBe("acknowledged");
  expect(memory.phases).toEqual(["ACTIVATE", "RUN_START"]);
  expect(await driveCancelled(bench)).toBe("acknowledged");
  expect(memory.phases).toEqual(["ACTIVATE", "RUN_START", "DEACTIVATE"]);
  expect(memory.requests.at(-1)?.data.value).toMatchObject({
    status: "cancelled",
    message: "no longer needed",
  });
  expectWhole(await bench.events(), RunStatus.CANCELLED);
});

test("a late delivery of another message does not deactivate the plugins of a run again", async () => {
  const { bench, memory } = await benchWith({ guard: listening });
  await bench.drive("w");
  await bench.drive("w", 7);
  expect(memory.phases.filter((phase) => phase === "DEACTIVATE")).toHaveLength(1);
});

test("a plugin that fails after the end changes nothing, and the others are deactivated", async () => {
  const { bench, memory } = await benchWith({
    broken: {
      ...listening,
      hook: ({ phase }) => {
        if (phase === DEACTIVATE) throw new PluginFailure("it is broken", { retryable: false });
        return {};
      },
    },
    guard: listening,
  });
  expect(await bench.drive("w")).toBe("acknowledged");
  expect(memory.phases.filter((phase) => phase === "DEACTIVATE")).toHaveLength(2);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

test("a worker without the plugin gives the end of a run back for another worker, up to ten times", async () => {
  const { bench, memory } = await benchWith({ guard: listening });
  await bench.drive("w");
  const elsewhere = { ...memory.host, runHook: () => Promise.reject(notHere()) };
  const clock = { now: () => 0, sleep: async () => undefined };
  const ports = { ...bench.ports("new"), plugins: elsewhere, clock };
  let attempt = 2;
  const driveAgain = async () => await bench.drive("new", 1, undefined, attempt, ports);
  while ((await driveAgain()) === "given back") attempt++;
  expect(attempt).toBe(11);
  expect(bench.redeliveryDelaysMs.slice(0, 3)).toEqual([2_000, 4_000, 8_000]);
});

function notHere(): PluginFailure {
  return new PluginFailure("there is version 2 now", { retryable: true, isElsewhere: true });
}
