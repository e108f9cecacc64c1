import { pathToFileURL } from "node:url";
import { create } from "@bufbuild/protobuf";
import { HookPhase, RunHookRequestSchema } from "@reeve/contracts/extensions/plugin";
import { PluginFailure } from "@reeve/engine/ports/plugin-host";
import { afterAll, expect, test } from "vitest";
import { PluginModules } from "../../test/support/plugin-modules.ts";
import { PackagePlugin } from "./package-plugin.ts";

const never = new AbortController().signal;
const modules = new PluginModules();

afterAll(() => modules[Symbol.dispose]());

const module = modules.write(
  "plugin.mjs",
  `export default {
    id: "guard",
    version: "1",
    state: { count: { merge: "sum" } },
    hooks: {
      runStart: ({ runStart, state }) => ({ patches: [{ key: "count", value: runStart.input.length + (state.count ?? 0) }] }),
      stepStart: () => { throw new RangeError("no step"); },
      beforeInference: () => { for (;;); },
      afterInference: () => ({ verdict: "maybe" }),
      toolGate: () => ({ verdict: "x".repeat(5_000_000) }),
      stepEnd: () => ({ patches: [{ key: "count", value: Object.keys(process.env).length }] }),
    },
    tools: { add: { description: "adds", execute: ({ arguments: { a, b } }) => String(a + b) } },
  };`,
);

const open = (path = module) => new PackagePlugin(pathToFileURL(path));

function request(phase: HookPhase) {
  const data = { case: "runStart", value: { input: "abc" } } as const;
  return create(RunHookRequestSchema, { phase, pluginId: "guard", data });
}

// Requirement: RES-5
test("a module describes itself, and answers hooks and calls of its tools", async () => {
  await using plugin = open();
  expect(await plugin.describe(never)).toMatchObject({
    id: "guard",
    version: "1",
    stateKeys: [{ name: "count" }],
    tools: [{ name: "add" }],
  });
  const { patches } = await plugin.runHook(request(HookPhase.RUN_START), 5_000, never);
  expect(patches[0]?.value?.kind).toEqual({ case: "numberValue", value: 3 });
  const call = { $typeName: "reeve.plugin.v1.ExecutePluginToolRequest" as const, callId: "c" };
  const result = await plugin.executeTool(
    {
      ...call,
      pluginId: "guard",
      pluginVersion: "1",
      name: "add",
      arguments: { a: 1, b: 2 },
      tenant: "",
      runId: "",
      state: {},
      traceparent: "",
    },
    5_000,
    never,
  );
  expect(result).toMatchObject({ content: "3", isError: false });
});

test("a module has no environment", async () => {
  await using plugin = open();
  const { patches } = await plugin.runHook(request(HookPhase.STEP_END), 5_000, never);
  expect(patches[0]?.value?.kind.value).toBe(0);
});

test.each([
  [HookPhase.STEP_START, "RangeError: no step"],
  [HookPhase.AFTER_INFERENCE, "its answer is not what the contract describes"],
  [HookPhase.BEFORE_TOOL, "it has no hook"],
  [HookPhase.TOOL_GATE, "it answered 5000014 characters, more than 4194304"],
])("a hook in phase %s that throws or answers nonsense fails alone", async (phase, problem) => {
  await using plugin = open();
  const failing = plugin.runHook(request(phase), 5_000, never);
  await expect(failing).rejects.toThrow(problem);
  await expect(failing).rejects.toBeInstanceOf(PluginFailure);
  await plugin.runHook(request(HookPhase.RUN_START), 5_000, never);
});

test("an endless loop is ended at the deadline, and the next hook is answered", async () => {
  await using plugin = open();
  await plugin.describe(never);
  const hanging = plugin.runHook(request(HookPhase.BEFORE_INFERENCE), 50, never);
  await expect(hanging).rejects.toMatchObject({
    message: "it did not answer within 0.05 s",
    retryable: false,
  });
  await plugin.runHook(request(HookPhase.RUN_START), 5_000, never);
});

test("a module that changes is not loaded by a process that has run it", async () => {
  const path = modules.write("changing.mjs", `export default { id: "a", version: "1" };`);
  await using plugin = open(path);
  await plugin.describe(never);
  await plugin[Symbol.asyncDispose]();
  modules.write("changing.mjs", `export default { id: "a", version: "1", hooks: {} };`);
  await expect(plugin.describe(never)).rejects.toThrow("has changed since this runtime started");
});

test.each([
  ["missing.mjs", undefined, "its module cannot be read", "missing.mjs"],
  ["throwing.mjs", "throw new Error('broken');", "its module does not load", "broken"],
  ["empty.mjs", "export const other = 1;", "its module does not load", "no default export"],
  ["importing.mjs", "import './none.mjs';", "its module does not load", "none.mjs"],
])(
  "a module that does not load is a failure without its path: %s",
  async (name, text, message, detail) => {
    const path = text === undefined ? `${modules.folder}/${name}` : modules.write(name, text);
    await using plugin = open(path);
    const cause = { message: expect.stringContaining(detail) };
    await expect(plugin.describe(never)).rejects.toMatchObject({ message, cause });
  },
);
