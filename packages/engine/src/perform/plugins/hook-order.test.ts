import { create } from "@bufbuild/protobuf";
import { timestampMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { HookPhase, MergeMode } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { expect, test } from "vitest";
import { callingModel, countingModel } from "../../../test/support/models.ts";
import type { MemoryPlugin } from "../../../test/support/plugins/memory-plugins.ts";
import { MemoryPlugins } from "../../../test/support/plugins/memory-plugins.ts";
import { endOf, later } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const key = { name: "n", merge: MergeMode.EXCLUSIVE };

async function benchWith(plugins: Readonly<Record<string, MemoryPlugin>>, spec = {}, rounds = 1) {
  const bench = new WorkerBench(countingModel(rounds));
  bench.plugins = new MemoryPlugins(plugins);
  return await bench.create({ pluginIds: Object.keys(plugins), ...spec });
}

test("a timer sees the state of when it is due", async () => {
  const due = Promise.withResolvers<void>();
  const handled = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const phases = [HookPhase.RUN_START, HookPhase.STEP_START, HookPhase.AFTER_TOOL];
  const bench = await benchWith({
    guard: {
      descriptor: { phases, stateKeys: [key] },
      async hook({ phase, step, state, data }) {
        if (data.case === "action") {
          seen.push([step, state["n"]?.kind.value]);
          handled.resolve();
          return {};
        }
        if (phase === HookPhase.RUN_START) return { actions: [later(60_000)] };
        if (phase === HookPhase.STEP_START) return { patches: [patch(step * 100)] };
        due.resolve();
        await handled.promise;
        return {};
      },
    },
  });
  const ports = bench.ports("w");
  const sleep = (ms: number, signal: AbortSignal) =>
    ms === 60_000 ? due.promise : ports.clock.sleep(ms, signal);
  const clock = { now: ports.clock.now, sleep };
  await bench.drive("w", 1, undefined, 1, { ...ports, clock });
  expect(seen).toEqual([[1, 100]]);
});

test("an action is handled after all hooks of its point", async () => {
  const recorded = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const bench = await benchWith({
    first: {
      descriptor: { phases: [HookPhase.RUN_START], stateKeys: [key] },
      hook({ state, data }) {
        if (data.case !== "action") return { patches: [patch(1)], actions: [{ name: "now" }] };
        seen.push(state["n"]?.kind.value);
        return {};
      },
    },
    second: {
      descriptor: { phases: [HookPhase.RUN_START] },
      async hook() {
        await recorded.promise;
        return {};
      },
    },
  });
  const ports = bench.ports("w");
  const log = withAppendObserver(ports.log, (events) => {
    if (events.some(({ event }) => event.case === "pluginHookFinished")) recorded.resolve();
  });
  await bench.drive("w", 1, undefined, 1, { ...ports, log });
  expect(seen).toEqual([1]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

test("a call that is denied directly before it starts keeps the patches of its point", async () => {
  const recorded = Promise.withResolvers<void>();
  let seen: unknown;
  const bench = await benchWith({
    first: {
      descriptor: { phases: [HookPhase.BEFORE_TOOL, HookPhase.STEP_END], stateKeys: [key] },
      hook({ phase, state }) {
        if (phase === HookPhase.BEFORE_TOOL) {
          return { verdict: { case: "deny", value: {} }, patches: [patch(1)] };
        }
        seen ??= state["n"]?.kind.value ?? "none";
        return {};
      },
    },
    second: {
      descriptor: { phases: [HookPhase.BEFORE_TOOL] },
      async hook() {
        await recorded.promise;
        return {};
      },
    },
  });
  const ports = bench.ports("w");
  const log = withAppendObserver(ports.log, (events) => {
    if (events.some(({ event }) => event.case === "pluginHookFinished")) recorded.resolve();
  });
  await bench.drive("w", 1, undefined, 1, { ...ports, log });
  expect(seen).toBe(1);
  expect(await resultsOf(bench)).toEqual(["the plugin first denies this call"]);
});

test("a replacement by the same arguments is none", async () => {
  const verdict = { case: "rewrite", value: { arguments: { path: "safe" } } } as const;
  const bench = await benchWith({
    guard: { descriptor: { phases: [HookPhase.TOOL_GATE] }, hook: () => ({ verdict }) },
  });
  await bench.drive("w");
  expect(await resultsOf(bench)).toEqual(["1"]);
});

test("a sum that no number can hold fails its hook by name", async () => {
  const phases = [HookPhase.RUN_START, HookPhase.STEP_START, HookPhase.STEP_END];
  const bench = await benchWith({
    guard: {
      descriptor: { phases, stateKeys: [{ name: "n", merge: MergeMode.SUM }] },
      hook: () => ({ patches: [patch(1e308)] }),
    },
  });
  await bench.drive("w");
  expect((await endOf(bench)).error).toMatchObject({
    reason: "plugin_failed",
    message: expect.stringContaining("larger than a number can be"),
  });
});

test("a host that breaks fails the hook, and not the worker", async () => {
  const bench = await benchWith({
    guard: {
      descriptor: { phases: [HookPhase.RUN_START] },
      hook: () => Promise.reject(new TypeError("no number")),
    },
  });
  await bench.drive("w");
  expect((await endOf(bench)).error).toMatchObject({
    reason: "plugin_failed",
    message: expect.stringContaining("could not be asked: no number"),
  });
});

test("a run that waits for a person is parked until its first timer, which runs once", async () => {
  const bench = await benchWith(
    {
      guard: {
        descriptor: { phases: [HookPhase.RUN_START] },
        hook: ({ data }) =>
          data.case === "action" ? {} : { actions: [later(60_000), later(604_800_000)] },
      },
    },
    { hitlTools: ["count"] },
  );
  let nowMs = 1_000;
  const portsAt = (worker: string) => {
    const ports = bench.ports(worker);
    return { ...ports, clock: { ...ports.clock, now: () => nowMs }, maxHeldWaitMs: 5_000 };
  };
  const parks = async () =>
    (await bench.events()).flatMap(({ event }) =>
      event.case === "runParked" && event.value.wakeAt ? [timestampMs(event.value.wakeAt)] : [],
    );
  await bench.drive("w1", 1, undefined, 1, portsAt("w1"));
  expect(await parks()).toEqual([61_000]);
  await bench.drive("w2", 2, undefined, 1, portsAt("w2"));
  expect(await parks()).toEqual([61_000]);
  nowMs = 61_000;
  await bench.drive("w2", 3, undefined, 1, portsAt("w2"));
  expect(await parks()).toEqual([61_000, 604_801_000]);
  await bench.decide(ApprovalState.APPROVED);
  await bench.drive("w3", 4, undefined, 1, portsAt("w3"));
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  const actions = (await bench.events()).filter(
    ({ event }) => event.case === "pluginHookFinished" && event.value.phase === HookPhase.ACTION,
  );
  expect(actions).toHaveLength(1);
});

test("a draining worker lets a tool of a plugin finish", async () => {
  const drain = new AbortController();
  const draining = Promise.withResolvers<void>();
  drain.signal.addEventListener("abort", () => setImmediate(draining.resolve));
  let executions = 0;
  const memory = new MemoryPlugins({
    guard: { descriptor: { phases: [], tools: [{ name: "pay", permissionClass: "safe" }] } },
  });
  const { executeTool } = memory.host;
  memory.host.executeTool = async (...call) => {
    executions++;
    drain.abort();
    await draining.promise;
    return { ...(await executeTool(...call)), content: "paid" };
  };
  const bench = new WorkerBench(callingModel([["guard__pay", "{}"]], () => undefined));
  bench.plugins = memory;
  await bench.create({ pluginIds: ["guard"] });
  await bench.drive("w1", 1, { now: never, drain: drain.signal });
  await bench.drive("w2", 1, undefined, 2);
  expect([executions, await resultsOf(bench)]).toEqual([1, ["paid"]]);
});

test("a run whose plugin is away is prepared later", async () => {
  const memory = new MemoryPlugins({ guard: {} });
  let isAway = true;
  const bench = new WorkerBench(countingModel(0));
  const host = { ...memory.host, isAway: () => isAway };
  bench.plugins = { offers: memory.offers, host };
  await bench.create({ pluginIds: ["guard"] });
  const away = bench.drive("w1");
  await away.catch(() => undefined);
  expect((await endOf(bench)).endSequence).toBeUndefined();
  isAway = false;
  await bench.drive("w1", 1, undefined, 2);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});

function patch(value: number) {
  return { key: "n", value: create(ValueSchema, { kind: { case: "numberValue", value } }) };
}
