import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import type { ModelRequest } from "../../../src/ports/model-provider.ts";
import type { MemoryPlugin } from "./memory-plugins.ts";
import { MemoryPlugins } from "./memory-plugins.ts";
import { callingModel, countingModel } from "../models.ts";
import { WorkerBench } from "../worker-bench.ts";

type Spec = MessageInitShape<typeof AgentSpecSchema>;

/** A run whose model calls `count` once, or the tools that are given, with plugins. */
export async function benchWith(
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

/** Returns the head of the run of a bench. */
export async function endOf(bench: WorkerBench) {
  return foldHead(emptyHead, await bench.events());
}

/** Returns the answers of the hooks in the log of a bench. */
export async function hooksIn(bench: WorkerBench) {
  return (await bench.events()).flatMap(({ event }) =>
    event.case === "pluginHookFinished" ? [event.value] : [],
  );
}

/** An action that is due after a delay, in milliseconds. */
export function later(delayMs: number) {
  return { name: "later", delay: durationFromMs(delayMs) };
}

/** A plugin whose tool gate gives a verdict. */
export function gate(verdict: object): MemoryPlugin {
  return { descriptor: { phases: [HookPhase.TOOL_GATE] }, hook: () => verdict };
}
