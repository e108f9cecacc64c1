import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { callingModel, countingModel } from "../../test/support/models.ts";
import { MemoryPlugins } from "../../test/support/plugins/memory-plugins.ts";
import { endOf, hooksIn } from "../../test/support/plugins/plugin-bench.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";
import type { PluginHost } from "../ports/plugin-host.ts";
import { PluginFailure } from "../ports/plugin-host.ts";

const never = new AbortController().signal;

test("a call of a plugin's tool that comes while its worker drains is made once, by the next worker", async () => {
  const drain = new AbortController();
  const executions: string[] = [];
  const memory = new MemoryPlugins({
    guard: {
      descriptor: { phases: [], tools: [{ name: "pay", permissionClass: "safe" }] },
      tool: ({ callId }) => {
        executions.push(callId);
        return "paid";
      },
    },
  });
  const bench = new WorkerBench(callingModel([["guard__pay", "{}"]], () => drain.abort()));
  bench.plugins = memory;
  bench.ownerFate = "ended";
  await bench.create({ pluginIds: ["guard"] });
  expect(await bench.drive("first", 1, { now: never, drain: drain.signal })).toBe("given back");
  expect(executions).toEqual([]);
  await bench.drive("second", 1, undefined, 2);
  expect(executions).toHaveLength(1);
  expect(await resultsOf(bench)).toEqual(["paid"]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

test("when its worker drains while it appends the call of a plugin's tool, which is then made", async () => {
  const drain = new AbortController();
  const memory = new MemoryPlugins({
    guard: {
      descriptor: { phases: [], tools: [{ name: "pay", permissionClass: "safe" }] },
      tool: () => "paid",
    },
  });
  const bench = new WorkerBench(callingModel([["guard__pay", "{}"]], () => undefined));
  bench.plugins = memory;
  await bench.create({ pluginIds: ["guard"] });
  const ports = bench.ports("w");
  const append: typeof ports.log.append = async (key, tail, events, signal) => {
    if (events.some(({ event }) => event.case === "toolCallStarted")) drain.abort();
    return await bench.log.append(key, tail, events, signal);
  };
  const log = {
    append,
    read: bench.log.read.bind(bench.log),
    follow: bench.log.follow.bind(bench.log),
  };
  await bench.drive("w", 1, { now: never, drain: drain.signal }, 1, { ...ports, log });
  expect(await resultsOf(bench)).toEqual(["paid"]);
});

/** A run with the plugin `guard`, of which a worker has another version. */
async function updatedBench() {
  const memory = new MemoryPlugins({ guard: { descriptor: { phases: [HookPhase.RUN_START] } } });
  const bench = new WorkerBench(countingModel(0));
  bench.plugins = memory;
  bench.ownerFate = "alive";
  await bench.create({ pluginIds: ["guard"] });
  let asked = 0;
  const runHook: PluginHost["runHook"] = async () => {
    asked++;
    const options = { retryable: true, mayHaveBegun: false, isElsewhere: true };
    throw new PluginFailure("the deployment has version 2 now", options);
  };
  const driveUpdated = async (attempt: number) => {
    const ports = bench.ports("new");
    const plugins = { ...memory.host, runHook };
    const clock = { now: () => 0, sleep: async () => undefined };
    return await bench.drive("new", 1, undefined, attempt, { ...ports, plugins, clock });
  };
  return { bench, driveUpdated, asked: () => asked };
}

describe("a worker that has not the plugin of a run", () => {
  test("gives the run back, and a worker that has it continues", async () => {
    const { bench, driveUpdated } = await updatedBench();
    expect(await driveUpdated(1)).toBe("given back");
    expect(await hooksIn(bench)).toEqual([]);
    await bench.drive("old", 1, undefined, 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(await hooksIn(bench)).toMatchObject([{ error: "" }]);
  });

  test("ends the run by name if no other worker takes it", async () => {
    const { bench, driveUpdated, asked } = await updatedBench();
    let attempt = 1;
    while ((await driveUpdated(attempt)) === "given back") attempt++;
    expect(attempt).toBe(11);
    expect(asked()).toBe(20);
    expect(bench.redeliveryDelaysMs).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      ...Array.from({ length: 6 }, () => 15_000),
    ]);
    expect((await endOf(bench)).error).toMatchObject({
      reason: "plugin_failed",
      message: expect.stringContaining("the plugin guard failed: the deployment has version 2"),
    });
  });

  test("does not prepare it, until one with the plugin does", async () => {
    const { bench } = await updatedBench();
    const { plugins } = bench;
    bench.plugins = undefined;
    expect(await bench.drive("without")).toBe("given back");
    bench.plugins = plugins;
    await bench.drive("with", 1, undefined, 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("fails its preparation by name if no other worker takes it", async () => {
    const { bench } = await updatedBench();
    bench.plugins = undefined;
    let attempt = 1;
    while ((await bench.drive("without", 1, undefined, attempt)) === "given back") attempt++;
    expect(attempt).toBe(10);
    expect((await endOf(bench)).error).toMatchObject({
      reason: "resolve_failed",
      message: expect.stringContaining("guard"),
    });
  });
});

// Requirement: RES-5
test("a run whose plugin stays away before its preparation ends with the name of the plugin", async () => {
  const { bench } = await updatedBench();
  const memory = new MemoryPlugins({ guard: {} });
  const offers = memory.offers.map((offer) => ({ ...offer, problem: "it does not answer" }));
  bench.plugins = { offers, host: { ...memory.host, isAway: () => true } };
  let attempt = 1;
  while ((await bench.drive("w", 1, undefined, attempt)) === "given back") attempt++;
  expect(attempt).toBe(105);
  expect((await endOf(bench)).error).toMatchObject({
    reason: "resolve_failed",
    message: expect.stringContaining('plugin "guard" cannot be used: it does not answer'),
  });
});
