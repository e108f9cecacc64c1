import { create } from "@bufbuild/protobuf";
import { durationFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ApprovalState, DecisionSchema, GateKind } from "@reeve/contracts/approval";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { HookPhase, MergeMode } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { expect, describe, test } from "vitest";
import { callingModel, countingModel } from "../../../test/support/models.ts";
import type { MemoryPlugin } from "../../../test/support/memory-plugins.ts";
import { MemoryPlugins } from "../../../test/support/memory-plugins.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";
import type { ModelRequest } from "../../ports/model-provider.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";

type Spec = MessageInitShape<typeof AgentSpecSchema>;

/** A run whose model calls `count` once, or the tools that are given, with plugins. */
async function benchWith(
  plugins: Readonly<Record<string, MemoryPlugin>>,
  { calls, spec = {} }: { calls?: readonly (readonly [string, string])[]; spec?: Spec } = {},
) {
  const model = calls === undefined ? countingModel(1) : callingModel(calls, () => undefined);
  const requests: ModelRequest[] = [];
  const bench = new WorkerBench({
    ...model,
    stream(request, signal) {
      requests.push(request);
      return model.stream(request, signal);
    },
  });
  const memory = new MemoryPlugins(plugins);
  bench.plugins = memory;
  await bench.create({ pluginIds: Object.keys(plugins), ...spec });
  return { bench, memory, requests };
}

async function endOf(bench: WorkerBench) {
  return foldHead(emptyHead, await bench.events());
}

async function hooksIn(bench: WorkerBench) {
  return (await bench.events()).flatMap(({ event }) =>
    event.case === "pluginHookFinished" ? [event.value] : [],
  );
}

// Requirement: RES-5
test("a plugin has a hook in every phase, in the order of the loop, each recorded once", async () => {
  const { bench, memory } = await benchWith({ guard: {} });
  await bench.drive("w");
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  const step = ["STEP_START", "BEFORE_INFERENCE", "AFTER_INFERENCE"];
  expect(memory.phases).toEqual([
    "RUN_START",
    ...step,
    "TOOL_GATE",
    "BEFORE_TOOL",
    "AFTER_TOOL",
    "STEP_END",
    ...step,
    "STEP_END",
    "RUN_END",
  ]);
  const recorded = await hooksIn(bench);
  expect(recorded.map(({ hookId }) => hookId)).toEqual(memory.requests.map(({ hookId }) => hookId));
  expect(new Set(recorded.map(({ hookId }) => hookId)).size).toBe(recorded.length);
});

test("a run without plugins has no facts about any", async () => {
  const bench = await new WorkerBench(countingModel(1)).create();
  await bench.drive("w");
  const kinds = (await bench.events()).map(({ event }) => event.case);
  expect(kinds.filter((kind) => /^plugin|^runEnding/.test(kind ?? ""))).toEqual([]);
});

describe("the verdict of a tool gate", () => {
  const deny = gate({ verdict: { case: "deny", value: { reason: "not today" } } });
  const ask = gate({ verdict: { case: "ask", value: { reason: "it is late" } } });
  const allow = gate({ verdict: { case: "allow", value: {} } });

  test("refuses a call, which the model reads by name", async () => {
    const { bench } = await benchWith({ guard: deny });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual(["the plugin guard denies this call: not today"]);
    expect(bench.executed).toEqual([]);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("is the strictest of all plugins", async () => {
    const { bench } = await benchWith({ first: allow, second: deny, third: ask });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual([expect.stringContaining("second denies")]);
  });

  test("has a person decide", async () => {
    const { bench } = await benchWith({ guard: ask });
    await bench.drive("w");
    expect(approvalsOf(await endOf(bench))).toMatchObject([
      { gates: [GateKind.PLUGIN], pluginReasons: ["guard: it is late"] },
    ]);
    await bench.decide(ApprovalState.APPROVED);
    await bench.drive("w", 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
  });

  test("does not lift the approval that the agent requires", async () => {
    const { bench } = await benchWith({ guard: allow }, { spec: { hitlTools: ["count"] } });
    await bench.drive("w");
    expect(approvalsOf(await endOf(bench))).toMatchObject([{ gates: [GateKind.TOOL] }]);
    expect(bench.executed).toEqual([]);
  });

  test("replaces the arguments, on which rules and the gate decide again", async () => {
    const seen: unknown[] = [];
    const replacing: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE] },
      hook({ data }) {
        if (data.case !== "call") return {};
        seen.push(data.value.arguments);
        return data.value.arguments?.["path"] === "safe"
          ? {}
          : { verdict: { case: "rewrite", value: { arguments: { path: "safe" } } } };
      },
    };
    const { bench } = await benchWith({ guard: replacing }, { spec: { hitlTools: ["count"] } });
    await bench.drive("w");
    expect(seen).toEqual([{}, { path: "safe" }]);
    expect(approvalsOf(await endOf(bench))[0]?.call?.arguments).toEqual({ path: "safe" });
  });

  test("is given anew for the arguments with which a person approves the call", async () => {
    const seen: unknown[] = [];
    const strict: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE] },
      hook({ data }) {
        if (data.case !== "call") return {};
        seen.push(data.value.arguments);
        return data.value.arguments?.["path"] === "secret"
          ? { verdict: { case: "deny", value: {} } }
          : {};
      },
    };
    const spec = { hitlTools: ["count"], approvalPolicy: { allowEditedArguments: true } };
    const { bench } = await benchWith({ guard: strict }, { spec });
    await bench.drive("w");
    const editedArguments = { path: "secret" };
    const decision = create(DecisionSchema, { approved: true, editedArguments });
    await bench.decide(ApprovalState.APPROVED, undefined, decision);
    await bench.drive("w", 2);
    expect(seen).toEqual([{}, editedArguments]);
    expect(await resultsOf(bench)).toEqual(["the plugin guard denies this call"]);
    expect(bench.executed).toEqual([]);
  });

  test("decides on the calls of the planner too", async () => {
    const calls = [["count", "{}"]] as const;
    const planned = await benchWith({ guard: deny }, { calls, spec: { planningEnabled: true } });
    await planned.bench.drive("w");
    expect(await resultsOf(planned.bench)).toEqual([expect.stringContaining("guard denies")]);
    expect(planned.bench.executed).toEqual([]);
  });

  test("is a refusal if two plugins replace the arguments", async () => {
    const { bench } = await benchWith({ a: rewrite("1"), b: rewrite("2") });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual([expect.stringContaining("a, b also replaces")]);
  });

  test("is a refusal if the plugin gives none", async () => {
    const broken: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE] },
      ignoresFailures: true,
      hook: () => Promise.reject(new PluginFailure("it threw", { retryable: false })),
    };
    const { bench } = await benchWith({ guard: broken });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual([
      "the plugin guard did not decide on this call: it threw",
    ]);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("stops the run", async () => {
    const stop = gate({ verdict: { case: "stop", value: { reason: "enough" } } });
    const { bench } = await benchWith({ guard: stop });
    await bench.drive("w");
    expect((await endOf(bench)).error).toMatchObject({
      reason: "plugin_stopped",
      message: "the plugin guard stopped the run: enough",
    });
    expect(bench.executed).toEqual([]);
  });
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

/** A plugin whose tool gate gives a verdict. */
function gate(verdict: object): MemoryPlugin {
  return { descriptor: { phases: [HookPhase.TOOL_GATE] }, hook: () => verdict };
}

function rewrite(path: string): MemoryPlugin {
  return gate({ verdict: { case: "rewrite", value: { arguments: { path } } } });
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
