import { pathToFileURL } from "node:url";
import { create } from "@bufbuild/protobuf";
import {
  ExecutePluginToolRequestSchema,
  HookPhase,
  RunHookRequestSchema,
} from "@reeve/contracts/extensions/plugin";
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
    hooks: {
      runStart: () => ({}),
      beforeInference: () => { for (;;); },
      stepEnd: () => new Promise(() => undefined),
      afterInference: () => new Promise((resolve) => setTimeout(resolve, 200)),
    },
    tools: {
      spin: { description: "spins", execute: () => { for (;;); } },
      work: {
        description: "works",
        execute: () => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
          return "done";
        },
      },
    },
  };`,
);

const open = () => new PackagePlugin(pathToFileURL(module));

function hook(plugin: PackagePlugin, phase: HookPhase, deadlineMs: number, signal = never) {
  const request = create(RunHookRequestSchema, { phase, pluginId: "guard" });
  return plugin.runHook(request, deadlineMs, signal);
}

test("a hook that is aborted in an endless loop fails no hook of another run", async () => {
  await using plugin = open();
  await plugin.describe(never);
  const cancel = new AbortController();
  const cancelled = hook(plugin, HookPhase.BEFORE_INFERENCE, 60_000, cancel.signal);
  const other = hook(plugin, HookPhase.RUN_START, 10_000);
  cancel.abort();
  await expect(cancelled).rejects.toThrow("aborted");
  await expect(other).resolves.toBeDefined();
});

test("a hook that exceeds its deadline in an endless loop fails no hook of another run", async () => {
  await using plugin = open();
  await plugin.describe(never);
  const endless = hook(plugin, HookPhase.BEFORE_INFERENCE, 50);
  const other = hook(plugin, HookPhase.RUN_START, 50);
  await expect(endless).rejects.toMatchObject({
    message: "it did not answer within 0.05 s",
    mayHaveBegun: true,
  });
  await expect(other).resolves.toBeDefined();
});

test("a tool in an endless loop delays no hook", async () => {
  await using plugin = open();
  await plugin.describe(never);
  const cancel = new AbortController();
  const request = create(ExecutePluginToolRequestSchema, { pluginId: "guard", name: "spin" });
  const endless = plugin.executeTool(request, 60_000, cancel.signal);
  await hook(plugin, HookPhase.RUN_START, 10_000);
  cancel.abort();
  await expect(endless).rejects.toThrow("aborted");
});

test("the abort of a call that waits for its thread ends no call of another run", async () => {
  await using plugin = open();
  const call = (name: string, signal: AbortSignal) =>
    plugin.executeTool(
      create(ExecutePluginToolRequestSchema, { pluginId: "guard", name, arguments: {} }),
      60_000,
      signal,
    );
  const cancel = new AbortController();
  const working = call("work", never);
  const waiting = call("spin", cancel.signal);
  cancel.abort();
  await expect(waiting).rejects.toThrow("aborted");
  await expect(working).resolves.toMatchObject({ content: "done" });
});

test("a hook that never answers fails alone", async () => {
  await using plugin = open();
  await plugin.describe(never);
  const slow = hook(plugin, HookPhase.AFTER_INFERENCE, 10_000);
  await expect(hook(plugin, HookPhase.STEP_END, 50)).rejects.toThrow("did not answer within");
  await expect(slow).resolves.toBeDefined();
});
