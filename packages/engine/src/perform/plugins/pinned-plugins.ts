import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { guardListOf } from "@reeve/agent/guardrails/guardrails-section";
import { delegatePlugins } from "@reeve/agent/delegates/delegate-plugins";
import { sectionOf } from "@reeve/agent/plugins/section-violations";
import type { ResolvedAgent } from "@reeve/agent/resolve/resolved-agent";
import type { AgentSpec, OfferedPlugin } from "@reeve/contracts/agent";
import type { GuardSectionSchema, PinnedPluginSchema } from "@reeve/contracts/run";
import { phasesOf } from "../../domain/guardrails/guards-at.ts";
import { guardrailsId } from "../../domain/guardrails/pinned-guards.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { fact, rootScope } from "../../domain/state/fact.ts";

type Pinned = Exclude<MessageInitShape<typeof PinnedPluginSchema>, { $typeName: string }>;
type Section = Exclude<MessageInitShape<typeof GuardSectionSchema>, { $typeName: string }>;
type Resolved = Pick<ResolvedAgent, "plugins" | "delegates" | "policyGuardrails" | "guardModels">;

/** Returns the fact that names the plugins of a run, with their sections, first its guards. None if it has none. */
export function pinnedPlugins(spec: AgentSpec, resolved: Resolved): readonly Fact[] {
  const plugins = [...pinnedGuards(spec, resolved), ...offeredPlugins(spec, resolved)];
  return plugins.length === 0
    ? []
    : [fact(rootScope, { case: "pluginsPinned", value: { plugins } })];
}

function pinnedGuards(spec: AgentSpec, resolved: Resolved): readonly Pinned[] {
  const { policyGuardrails, guardModels, delegates } = resolved;
  const sections: readonly Section[] = [
    ...policyGuardrails.map(({ policyRule, section }) => ({
      policyRule,
      section: fromJson(ValueSchema, section),
    })),
    ...guardSection(spec, ""),
    ...delegates.flatMap(({ agent }) =>
      agent.spec === undefined ? [] : guardSection(agent.spec, agent.agentId),
    ),
  ];
  if (sections.length === 0) return [];
  const lists = [
    ...policyGuardrails.map(({ section }) => guardListOf(section)),
    ...[spec, ...delegates.flatMap(({ agent }) => agent.spec ?? [])].map((each) =>
      guardListOf(sectionOf(each, guardrailsId)),
    ),
  ];
  const targets = new Set(
    lists.flatMap((list) => (list?.guards ?? []).flatMap((guard) => guard.targets)),
  );
  const all = [...guardModels, ...delegates.flatMap((each) => each.resolved.guardModels)];
  const models = new Map(all.map(({ reference, resolved: { model } }) => [reference, model]));
  const pluginDescriptor = { id: guardrailsId, version: "1", phases: phasesOf(targets) };
  return [
    {
      plugin: { pluginDescriptor, origin: "builtin" },
      guardrails: {
        sections: [...sections],
        models: [...models].map(([reference, model]) => ({ reference, model })),
      },
    },
  ];
}

function guardSection({ sections }: AgentSpec, agentId: string): readonly Section[] {
  const section = sections[guardrailsId];
  return section === undefined ? [] : [{ agentId, section }];
}

function offeredPlugins(spec: AgentSpec, { plugins, delegates }: Resolved): readonly Pinned[] {
  return [
    ...plugins.map((plugin) => pinned(spec, plugin, [])),
    ...delegatePlugins(plugins, delegates).map((each) =>
      pinned(each.spec, each.plugin, each.delegateIds),
    ),
  ];
}

function pinned(
  { sections }: AgentSpec,
  plugin: OfferedPlugin,
  delegateIds: readonly string[],
): Pinned {
  const { pluginDescriptor: descriptor } = plugin;
  const section = descriptor?.sectionSchema && sections[descriptor.id];
  // The preparation has the tools, and the section was checked.
  const kept = descriptor && { ...descriptor, tools: [] };
  delete kept?.sectionSchema;
  return {
    plugin: { ...plugin, ...(kept && { pluginDescriptor: kept }) },
    ...(section && { section }),
    delegateIds: [...delegateIds],
  };
}
