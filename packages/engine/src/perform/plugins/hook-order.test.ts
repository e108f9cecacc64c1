import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { HookPhase, MergeMode } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel, countingModel } from "../../../test/support/models.ts";
import type { MemoryPlugin } from "../../../test/support/plugins/memory-plugins.ts";
import { MemoryPlugins } from "../../../test/support/plugins/memory-plugins.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";

const never = new AbortController().signal;
const key = { name: "n", merge: MergeMode.EXCLUSIVE };

async function benchWith(plugins: Readonly<Record<string, MemoryPlugin>>, spec = {}, rounds = 1) {
  const bench = new WorkerBench(countingModel(rounds));
  bench.plugins = new MemoryPlugins(plugins);
  return await bench.create({ pluginIds: Object.keys(plugins), ...spec });
}

async function endOf(bench: WorkerBench) {
  return foldHead(emptyHead, await bench.events());
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

describe("the actions of a plugin do not multiply", () => {
  test("beyond 64 that wait", async () => {
    let hooks = 0;
    const bench = await benchWith({
      guard: {
        descriptor: { phases: [HookPhase.RUN_START] },
        hook() {
          hooks++;
          return { actions: Array.from({ length: 16 }, () => ({ name: "again" })) };
        },
      },
    });
    await bench.drive("w");
    expect(hooks).toBeLessThan(300);
    expect((await endOf(bench)).error?.message).toMatch(/more than (64|256) actions/);
  });

  test("beyond 256 that follow one hook, also with delays", async () => {
    let hooks = 0;
    const bench = await benchWith(
      {
        guard: {
          descriptor: { phases: [HookPhase.RUN_START] },
          hook() {
            hooks++;
            return { actions: [later(1_000)] };
          },
        },
      },
      { hitlTools: ["count"] },
    );
    await bench.drive("w");
    expect(hooks).toBe(257);
    expect((await endOf(bench)).error?.message).toContain("more than 256 actions");
  });
});

describe("hooks that run at the same time", () => {
  const count = 8;
  const calls = Array.from({ length: count }, (_, index) => ({
    providerCallId: `p${index}`,
    name: "other",
    argumentsText: "{}",
  }));

  /** Returns the hooks and the head of a run whose gates answer all at once. */
  async function answersAtOnce(plugins: readonly string[], answer: (n: number) => object) {
    const model = callingModel([], () => undefined);
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const union = { name: "u", merge: MergeMode.UNION };
    const plugin: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE], stateKeys: [union] },
      async hook({ data }) {
        if (data.case === "action") return {};
        const answered = answer(++waiting);
        if (waiting === count * plugins.length) all.resolve();
        await all.promise;
        return answered;
      },
    };
    const bench = new WorkerBench({
      ...model,
      async *stream({ messages }) {
        const isDone = messages.some(({ role }) => role === "tool");
        const made = { calls: isDone ? [] : calls, finishReason: isDone ? "stop" : "tool_calls" };
        const turn = { messageJson: "{}", usage: undefined, model: "test", ...made };
        yield { kind: "turn", turn };
      },
    });
    bench.plugins = new MemoryPlugins(Object.fromEntries(plugins.map((id) => [id, plugin])));
    await bench.create({ pluginIds: [...plugins] });
    await bench.drive("w");
    return (await bench.events()).flatMap(({ event }) =>
      event.case === "pluginHookFinished" && event.value.phase === HookPhase.TOOL_GATE
        ? [event.value.error]
        : [],
    );
  }

  test("schedule together no more actions than a run may have", async () => {
    const actions = Array.from({ length: 16 }, () => later(3_600_000));
    const errors = await answersAtOnce(["guard"], () => ({ actions }));
    expect(errors.filter((error) => error === "")).toHaveLength(4);
    expect(errors.at(-1)).toContain("more than 64 actions");
  });

  test.each([[["guard"]], [["guard", "audit"]]])(
    "make together no value larger than it may be: of %s",
    async (plugins) => {
      const errors = await answersAtOnce(plugins, (n) => {
        const values = [{ kind: { case: "stringValue", value: String(n).padEnd(30_000) } }];
        return {
          patches: [{ key: "u", value: { kind: { case: "listValue", value: { values } } } }],
        };
      });
      expect(errors.filter((error) => error === "")).toHaveLength(2);
      expect(errors.at(-1)).toContain("larger than 65536 bytes");
    },
  );
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

function later(delayMs: number) {
  return { name: "later", delay: durationFromMs(delayMs) };
}
