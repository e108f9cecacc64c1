import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpec, PlannedPluginSchema } from "@reeve/contracts/agent";
import { digestText } from "@reeve/contracts/digest/batch-digest";
import { jsonDigest } from "@reeve/contracts/digest/json-digest";
import type { Violation } from "@reeve/platform/failure";
import type { SpecWarning } from "../spec/spec-warning.ts";
import { suggestion } from "../tools/catalog-filter.ts";
import type { BuiltinPlugin, PluginContext } from "./builtin-plugins.ts";
import { builtinPlugins } from "./builtin-plugins.ts";
import { invalidPluginConfig, sectionField, sectionOf } from "./section-violations.ts";

export interface PluginStage {
  /** The plugins of the run, in order. */
  readonly plugins: readonly MessageInitShape<typeof PlannedPluginSchema>[];
  readonly violations: readonly Violation[];
  readonly warnings: readonly SpecWarning[];
}

/** How many unclaimed sections are listed. */
const maxUnclaimed = 20;

/**
 * The second stage of a resolution: finds the plugins of an agent, and checks the sections that they read. Those that the spec
 * names come first, in its order, then those that its other fields add.
 */
export function pluginStage(
  spec: AgentSpec,
  context: PluginContext,
  registry: readonly BuiltinPlugin[] = builtinPlugins,
): PluginStage {
  const violations: Violation[] = [];
  const declared = new Map<BuiltinPlugin, string>();
  for (const [index, id] of spec.pluginIds.entries()) {
    const field = `plugin_ids[${index}]`;
    const plugin = registry.find((each) => each.id === id);
    const problem = plugin === undefined ? undefined : problemOf(plugin, spec, context, declared);
    if (plugin === undefined) violations.push(notFound(field, id, registry));
    else if (problem === undefined) declared.set(plugin, field);
    else violations.push({ field, description: problem, reason: invalidPluginConfig });
  }
  const added = registry.filter((plugin) => !declared.has(plugin) && plugin.isAdded(spec, context));
  const all = [...declared, ...added.map((plugin) => [plugin, addedBy(plugin, spec)] as const)];
  const claimed = all.flatMap(([{ section }]) => section ?? []);
  const names = new Set(claimed.map(({ name }) => name));
  return {
    plugins: all.map(([{ id, section }, by]) => ({
      id,
      origin: "builtin",
      addedBy: by,
      ...sectionsOf(spec, section?.name),
    })),
    violations: [...violations, ...claimed.flatMap(({ problems }) => problems(spec))],
    warnings: unclaimedWarnings(spec, names, registry),
  };
}

/** Returns the section that a plugin reads, if the spec has it, with a digest: plans with other settings have other hashes. */
function sectionsOf(spec: AgentSpec, name: string | undefined) {
  const section = name === undefined ? undefined : sectionOf(spec, name);
  if (name === undefined || section === undefined) return { sections: [] };
  return { sections: [name], sectionsHash: digestText(jsonDigest({ [name]: section })) };
}

function notFound(field: string, id: string, registry: readonly BuiltinPlugin[]): Violation {
  const known = registry.map((plugin) => plugin.id);
  const description = `plugin "${id}" does not exist; the plugins are: ${known.join(", ")}${suggestion(id, known)}`;
  return { field, description, reason: "PLUGIN_NOT_FOUND" };
}

/** Returns why a spec cannot name a plugin. Undefined: it can. */
function problemOf(
  plugin: BuiltinPlugin,
  spec: AgentSpec,
  context: PluginContext,
  declared: ReadonlyMap<BuiltinPlugin, string>,
): string | undefined {
  if (declared.has(plugin)) return `names plugin "${plugin.id}" a second time; remove it`;
  if (plugin.isAdded(spec, context)) return undefined;
  return `plugin "${plugin.id}" has no effect until ${plugin.addedBy} adds it; set that field`;
}

/** The operator's policy adds permission rules to agents without a section, and an approval policy needs no `hitl_tools`. */
function addedBy({ id, addedBy: by }: BuiltinPlugin, spec: AgentSpec): string {
  if (id === "permission" && !Object.hasOwn(spec.sections, "permission")) return "policy";
  if (id === "approvals" && spec.hitlTools.length === 0) return "approval_policy";
  return id === "todos" ? "always" : by;
}

function unclaimedWarnings(
  spec: AgentSpec,
  claimed: ReadonlySet<string>,
  registry: readonly BuiltinPlugin[],
): readonly SpecWarning[] {
  const unclaimed = Object.keys(spec.sections).filter((name) => !claimed.has(name));
  return unclaimed.slice(0, maxUnclaimed).map((name) => {
    const owner = registry.find(({ section }) => section?.name === name);
    const fix =
      owner === undefined
        ? `remove it${suggestion(name, claimed)}`
        : `set ${owner.addedBy}, or remove it`;
    const description = `no plugin of the agent reads this section, so it has no effect; ${fix}`;
    return { field: sectionField(name), description, reason: "UNCLAIMED_SECTION" };
  });
}
