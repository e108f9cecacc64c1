import process from "node:process";
import { create } from "@bufbuild/protobuf";
import type { BuiltinPlugin } from "@reeve/agent/plugins/builtin-plugins";
import { builtinPlugins } from "@reeve/agent/plugins/builtin-plugins";
import { pluginStage } from "@reeve/agent/plugins/plugin-stage";
import { unrestricted } from "@reeve/agent/policy/caller-policy";
import { lookupStage } from "@reeve/agent/resolve/lookup-stage";
import { resolutionPlan } from "@reeve/agent/resolve/resolution-plan";
import { toolStage } from "@reeve/agent/resolve/tool-stage";
import type { Offer } from "@reeve/agent/spec/check-spec";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import type { Benchmark, Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";

const tools = 1_000;
const plugins = 20;
const times = 30;

/** Time to resolve an agent with many tools and plugins, in process. */
export const resolution: Benchmark = {
  name: "resolution",
  async *measure(): AsyncIterable<Figure> {
    const offer = offerOf(tools);
    const registry = registryOf(plugins);
    const work = () => resolve(spec, offer, registry);
    const { plan } = work();
    await warmUp(3, work);
    yield {
      name: `an agent with ${plan.tools.length} tools and ${plan.plugins.length} plugins`,
      unit: "ms",
      ...(await measured(work)),
      aim: { median: 20 },
    };
  },
};

const spec = create(AgentSpecSchema, {
  id: "resolved",
  name: "Resolved",
  model: "known",
  hitlTools: ["tool_7"],
  excludedToolPatterns: ["nothing_*"],
  contextPolicy: {},
  planningEnabled: true,
});

function resolve(agent: AgentSpec, offer: Offer, registry: readonly BuiltinPlugin[]) {
  const context = { isEditor: false, extraTools: [], policy: unrestricted };
  const lookup = lookupStage(agent, offer, unrestricted);
  const stage = pluginStage(agent, { policy: unrestricted, hasMemory: false }, registry);
  const { belt, gated } = toolStage(agent, offer, context);
  const stages = { lookup, plugins: stage, belt, gated };
  return { plan: resolutionPlan(agent, stages, unrestricted) };
}

async function measured(work: () => unknown) {
  const before = process.cpuUsage();
  const values = await timesOf(times, work);
  const { user, system } = process.cpuUsage(before);
  return { values, cpuMs: (user + system) / 1_000 / times };
}

/** Returns the plugins of the runtime that the agent has, and so many further ones that there are `count`. */
function registryOf(count: number): readonly BuiltinPlugin[] {
  const own = builtinPlugins.filter(({ isAdded }) =>
    isAdded(spec, { policy: unrestricted, hasMemory: false }),
  );
  const further = Array.from({ length: count - own.length }, (_, index) => ({
    id: `further-${index}`,
    addedBy: "always",
    section: { name: `further_${index}`, problems: () => [] },
    isAdded: () => true,
  }));
  return [...own, ...further];
}

function offerOf(count: number): Offer {
  const inputSchema = { type: "object", properties: { path: { type: "string" } } };
  return {
    tools: [
      create(ToolCatalogSchema, {
        pool: "default",
        isolation: "bubblewrap",
        tools: Array.from({ length: count }, (_, index) => ({
          name: `tool_${index}`,
          description: "Does what its name says.",
          source: "provider:many",
          pool: "default",
          permissionClass: PermissionClass.SAFE,
          inputSchema,
        })),
      }),
    ],
    models: create(ModelCatalogSchema, {
      models: [{ id: "known", provider: "scripted", upstreamName: "known" }],
      providers: [{ name: "scripted", scripted: true }],
    }),
  };
}
