import { create } from "@bufbuild/protobuf";
import { durationFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { HookPhase, MergeMode } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { expect, describe, test } from "vitest";
import { countingModel } from "../../../test/support/models.ts";
import type { MemoryPlugin } from "../../../test/support/plugins/memory-plugins.ts";
import { benchWith, endOf, hooksIn } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";

// Requirement: RES-5
test("a plugin has a hook in every phase, in the order of the loop, each recorded once until the run ends", async () => {
  const { bench, memory } = await benchWith({ guard: {} });
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  const step = ["STEP_START", "BEFORE_INFERENCE", "AFTER_INFERENCE"];
  expect(memory.phases).toEqual([
    "ACTIVATE",
    "RUN_START",
    ...step,
    "TOOL_GATE",
    "BEFORE_TOOL",
    "AFTER_TOOL",
    "STEP_END",
    ...step,
    "STEP_END",
    "RUN_END",
    "DEACTIVATE",
  ]);
  const recorded = await hooksIn(bench);
  const asked = memory.requests.map(({ hookId }) => hookId);
  // The last one follows the end of the log.
  expect(recorded.map(({ hookId }) => hookId)).toEqual(asked.slice(0, -1));
  expect(new Set(recorded.map(({ hookId }) => hookId)).size).toBe(recorded.length);
});

test("a run keeps of its plugins what decides on its hooks, and not their tools", async () => {
  const tools = [{ name: "pay", description: "d".repeat(10_000) }];
  const phases = [HookPhase.RUN_START];
  const sectionSchema = { type: "object" };
  const { bench } = await benchWith({ guard: { descriptor: { phases, tools, sectionSchema } } });
  await bench.drive("w");
  const pins = (await bench.events()).flatMap(({ event }) =>
    event.case === "pluginsPinned" ? event.value.plugins : [],
  );
  const [descriptor] = pins.map(({ plugin }) => plugin?.pluginDescriptor);
  expect(descriptor).toMatchObject({ id: "guard", version: "1", phases, tools: [] });
  expect(descriptor?.sectionSchema).toBeUndefined();
});

test("a run without plugins has no facts about any", async () => {
  const bench = await new WorkerBench(countingModel(1)).create();
  await bench.drive("w");
  const kinds = (await bench.events()).map(({ event }) => event.case);
  expect(kinds.filter((kind) => /^plugin|^runEnding/.test(kind ?? ""))).toEqual([]);
});

test("a plugin changes the request of a step: it adds instructions and removes tools", async () => {
  const transform = { instructions: "Be brief.", removedTools: ["count"] };
  const plugin: MemoryPlugin = {
    descriptor: { phases: [HookPhase.BEFORE_INFERENCE] },
    hook: ({ step }) => (step === 1 ? { transform } : {}),
  };
  const { bench, requests } = await benchWith({ guard: plugin });
  await bench.drive("w");
  const [first, second] = requests;
  expect(first?.instructions).toContain("Be brief.");
  expect(first?.tools.map(({ name }) => name)).not.toContain("count");
  expect(second?.instructions).not.toContain("Be brief.");
  expect(second?.tools.map(({ name }) => name)).toContain("count");
  expect(await resultsOf(bench)).toEqual([expect.stringContaining("guard removed the tool count")]);
});

test("hooks of one point see the same state, and their patches are merged", async () => {
  const { bench, memory } = await benchWith({ a: add(1), b: add(10) });
  await bench.drive("w");
  const seen = memory.requests.map(({ step, state }) => [step, numberOf(state["sum"])]);
  expect(seen).toEqual([
    [1, undefined],
    [1, undefined],
    [2, 11],
    [2, 11],
  ]);
});

test.each([
  ["changes a key that it does not declare", { patches: [{ key: "x", value: numberValue(1) }] }],
  ["is possible before a call only", { verdict: { case: "deny", value: {} } }],
  ["is possible before the inference only", { transform: { instructions: "x" } }],
  ["does not fit its schema: must be >= 0", { patches: [{ key: "n", value: numberValue(-1) }] }],
  ["has no value that JSON can hold", { patches: [{ key: "n", value: numberValue(NaN) }] }],
  ["is not a number", { patches: [{ key: "n", value: textValue("1") }] }],
  ["is not from 1 s to 7 days", { actions: [{ name: "a", delay: durationFromMs(10) }] }],
  ["more than 65536", { patches: [{ key: "n", value: textValue("x".repeat(70_000)) }] }],
] as const)("an answer that %s fails its hook by name", async (problem, answer) => {
  const plugin: MemoryPlugin = {
    descriptor: {
      phases: [HookPhase.RUN_START],
      stateKeys: [{ name: "n", merge: MergeMode.SUM, schema: { type: "number", minimum: 0 } }],
    },
    hook: () => answer as never,
  };
  const { bench } = await benchWith({ guard: plugin });
  await bench.drive("w");
  expect((await endOf(bench)).error).toMatchObject({
    reason: "plugin_failed",
    message: expect.stringMatching(
      new RegExp(`run_start of the plugin guard failed: .*${problem}`),
    ),
  });
});

test("a failed hook of a plugin whose failures are ignored is in the log, and the run continues", async () => {
  const plugin: MemoryPlugin = {
    ignoresFailures: true,
    descriptor: { phases: [HookPhase.STEP_END] },
    hook: () => Promise.reject(new PluginFailure("it threw", { retryable: false })),
  };
  const { bench } = await benchWith({ guard: plugin });
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect((await hooksIn(bench)).map(({ error }) => error)).toEqual(["it threw", "it threw"]);
});

test("a hook is repeated with its id while its plugin is away", async () => {
  let away = 2;
  const plugin: MemoryPlugin = {
    descriptor: { phases: [HookPhase.RUN_START] },
    hook: async () => {
      if (away-- > 0) throw new PluginFailure("away", { retryable: true });
      return {};
    },
  };
  const { bench, memory } = await benchWith({ guard: plugin });
  await bench.drive("w");
  expect(memory.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(memory.requests.map(({ hookId }) => hookId)).size).toBe(1);
  expect(await hooksIn(bench)).toMatchObject([{ attempts: 3, error: "" }]);
});

describe("the actions of a plugin", () => {
  test("are handled before the run continues, in at most 16 rounds", async () => {
    const plugin: MemoryPlugin = {
      descriptor: { phases: [HookPhase.RUN_START] },
      hook: () => ({ actions: [{ name: "again" }] }),
    };
    const { bench, memory } = await benchWith({ guard: plugin });
    await bench.drive("w");
    expect(memory.phases).toEqual(["RUN_START", ...Array(16).fill("ACTION")]);
    expect((await endOf(bench)).error?.message).toContain("in 16 rounds");
  });

  test("wait for their time beside the run, and are dropped with its end", async () => {
    const plugin: MemoryPlugin = {
      descriptor: { phases: [HookPhase.RUN_START] },
      hook: () => ({ actions: [{ name: "late", delay: durationFromMs(60_000) }] }),
    };
    const { bench, memory } = await benchWith({ guard: plugin });
    await bench.drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(memory.phases).toEqual(["RUN_START"]);
  });

  test("that are due while the run waits for a person may stop it", async () => {
    const plugin: MemoryPlugin = {
      descriptor: { phases: [HookPhase.RUN_START] },
      hook: ({ data }) =>
        data.case === "action"
          ? { verdict: { case: "stop", value: { reason: "over" } } }
          : { actions: [{ name: "late", delay: durationFromMs(2_000) }] },
    };
    const { bench } = await benchWith({ guard: plugin }, { spec: { hitlTools: ["count"] } });
    await bench.drive("w");
    expect((await endOf(bench)).error).toMatchObject({ message: expect.stringContaining("over") });
  });
});

test("a plugin adds a tool, whose calls it executes", async () => {
  const plugin: MemoryPlugin = {
    descriptor: {
      phases: [],
      tools: [{ name: "left", permissionClass: "safe", idempotent: true }],
    },
    tool: ({ callId, name }) => `${name} of ${callId.slice(0, 3)}`,
  };
  const { bench } = await benchWith({ guard: plugin }, { calls: [["guard__left", "{}"]] });
  await bench.drive("w");
  expect(await resultsOf(bench)).toEqual(["left of run"]);
});

// Requirement: RES-11
test("no hook with an answer in the log runs again, wherever its worker dies", async () => {
  const effects = new Set<string>();
  const answered = new Set<string>();
  const repeated: string[] = [];
  const plugins: Readonly<Record<string, MemoryPlugin>> = {
    guard: {
      hook({ hookId }) {
        effects.add(hookId);
        if (answered.has(hookId)) repeated.push(hookId);
        return {};
      },
    },
  };
  const { bench } = await benchWith(plugins);
  for (let worker = 1; worker < 40 && (await endOf(bench)).endSequence === undefined; worker++) {
    const now = new AbortController();
    const ports = bench.ports(`w${worker}`);
    let appends = 0;
    // Dies after its claim and one more batch.
    const log = withAppendObserver(ports.log, (events) => {
      for (const { event } of events) {
        if (event.case === "pluginHookFinished") answered.add(event.value.hookId);
      }
      if (++appends === 2) now.abort();
    });
    const dying = { ...ports, log };
    const stop = { now: now.signal, drain: new AbortController().signal };
    await bench.drive(`w${worker}`, 1, stop, worker, dying);
  }
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  const recorded = (await hooksIn(bench)).map(({ hookId }) => hookId);
  expect(new Set(recorded).size).toBe(recorded.length);
  expect(new Set(recorded)).toEqual(effects);
  expect(repeated).toEqual([]);
});

function numberValue(value: number) {
  return create(ValueSchema, { kind: { case: "numberValue", value } });
}

function textValue(value: string) {
  return create(ValueSchema, { kind: { case: "stringValue", value } });
}

function numberOf(value: ReturnType<typeof numberValue> | undefined): unknown {
  return value?.kind.value;
}

/** A plugin that adds to a sum at the start of each step. */
function add(number: number): MemoryPlugin {
  return {
    descriptor: {
      phases: [HookPhase.STEP_START],
      stateKeys: [{ name: "sum", merge: MergeMode.SUM }],
    },
    hook: () => ({ patches: [{ key: "sum", value: numberValue(number) }] }),
  };
}
