import type { ResolvedAgent } from "@reeve/agent/resolve/resolved-agent";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { Fact } from "../../domain/state/fact.ts";
import { fact, rootScope } from "../../domain/state/fact.ts";

/** Returns the fact that names the plugins of a run, with their sections. None if it has none. */
export function pinnedPlugins(
  { sections }: AgentSpec,
  { plugins }: Pick<ResolvedAgent, "plugins">,
): readonly Fact[] {
  if (plugins.length === 0) return [];
  const pinned = plugins.map((plugin) => {
    const { pluginDescriptor: descriptor } = plugin;
    const section = descriptor?.sectionSchema && sections[descriptor.id];
    // The preparation has the tools, and the section was checked.
    const kept = descriptor && { ...descriptor, tools: [] };
    delete kept?.sectionSchema;
    return {
      plugin: { ...plugin, ...(kept && { descriptor: kept }) },
      ...(section && { section }),
    };
  });
  return [fact(rootScope, { case: "pluginsPinned", value: { plugins: pinned } })];
}
