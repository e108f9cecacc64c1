import type { AgentSpec, OfferedPlugin } from "@reeve/contracts/agent";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { Violation } from "@reeve/platform/failure";
import { keyViolations } from "../plugins/offered-plugins.ts";
import { invalidPluginConfig, sectionField, sectionOf } from "../plugins/section-violations.ts";
import type { ResolvedAgent, ResolvedDelegate } from "../resolve/resolved-agent.ts";

/** A plugin that only delegates of a run name. */
export interface DelegatePlugin {
  readonly plugin: OfferedPlugin;
  /** The spec whose section it reads: all of these delegates have the same one. */
  readonly spec: AgentSpec;
  /** Ids of the delegates that name it. */
  readonly delegateIds: readonly string[];
}

/** Returns the plugins of the operator that only delegates name, in the order of the delegates. */
export function delegatePlugins(
  ofRun: readonly OfferedPlugin[],
  delegates: readonly ResolvedDelegate[],
): readonly DelegatePlugin[] {
  const known = new Set(ofRun.map(idOf));
  const found = new Map<string, DelegatePlugin>();
  for (const { agent, resolved } of delegates) {
    if (agent.spec === undefined) continue;
    for (const plugin of resolved.plugins) {
      const id = idOf(plugin);
      if (known.has(id)) continue;
      const { spec, delegateIds } = found.get(id) ?? { spec: agent.spec, delegateIds: [] };
      found.set(id, { plugin, spec, delegateIds: [...delegateIds, agent.agentId] });
    }
  }
  return [...found.values()];
}

/**
 * Returns why a run cannot have the plugins that its delegates name: a plugin has one section in a run, and all plugins of a run share its
 * state.
 */
export function delegatePluginViolations(
  spec: AgentSpec,
  { plugins }: Pick<ResolvedAgent, "plugins">,
  delegates: readonly ResolvedDelegate[],
): readonly Violation[] {
  const first = new Map(plugins.map((plugin) => [idOf(plugin), spec]));
  const differing = delegates.flatMap(({ agent, resolved }) =>
    resolved.plugins.flatMap((plugin): readonly Violation[] => {
      const id = idOf(plugin);
      if (agent.spec === undefined) return [];
      const other = first.get(id);
      first.set(id, other ?? agent.spec);
      if (other === undefined || sectionText(other, id) === sectionText(agent.spec, id)) return [];
      const description = `agent "${agent.agentId}": ${sectionField(id)}: differs from the section of "${other.id}", which names the plugin "${id}" in the same run; give both the same`;
      return [{ field: "delegates", description, reason: invalidPluginConfig }];
    }),
  );
  const all = [...plugins, ...delegatePlugins(plugins, delegates).map(({ plugin }) => plugin)];
  return [...differing, ...keyViolations(all.map((plugin) => ({ plugin, field: "delegates" })))];
}

function sectionText(spec: AgentSpec, id: string): string {
  const section = sectionOf(spec, id);
  return section === undefined ? "" : canonicalJson(section);
}

function idOf({ pluginDescriptor: descriptor }: OfferedPlugin): string {
  return descriptor?.id ?? "";
}
