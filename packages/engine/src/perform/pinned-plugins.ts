import { create } from "@bufbuild/protobuf";
import type { ResolvedAgent } from "@reeve/agent/resolve/resolved-agent";
import type { AgentSpec } from "@reeve/contracts/agent";
import { OfferedPluginSchema } from "@reeve/contracts/agent";
import { PluginDescriptorSchema } from "@reeve/contracts/plugin";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope } from "../domain/state/fact.ts";

/** Returns the fact that names the plugins of a run, with their sections. None if it has none. */
export function pinnedPlugins(
  { sections }: AgentSpec,
  { plugins }: Pick<ResolvedAgent, "plugins">,
): readonly Fact[] {
  if (plugins.length === 0) return [];
  const pinned = plugins.map((plugin) => {
    const { descriptor } = plugin;
    const section = descriptor?.sectionSchema && sections[descriptor.id];
    // The preparation has the tools, and the section was checked.
    const { tools: _tools, sectionSchema: _schema, ...kept } = descriptor ?? {};
    const whole = create(PluginDescriptorSchema, kept);
    return {
      plugin: create(OfferedPluginSchema, { ...plugin, descriptor: whole }),
      ...(section && { section }),
    };
  });
  return [fact(rootScope, { case: "pluginsPinned", value: { plugins: pinned } })];
}
