import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpec, OfferedPlugin, PlannedPluginSchema } from "@reeve/contracts/agent";
import { digestText } from "@reeve/contracts/digest/batch-digest";
import { jsonDigest } from "@reeve/contracts/digest/json-digest";
import type { Violation } from "@reeve/platform/failure";
import type { SpecWarning } from "../spec/spec-warning.ts";
import { suggestion } from "../tools/catalog-filter.ts";
import type { BuiltinPlugin, PluginContext } from "./builtin-plugins.ts";
import { builtinPlugins } from "./builtin-plugins.ts";
import type { NamedPlugin } from "./offered-plugins.ts";
import { offeredProblem, offeredViolations } from "./offered-plugins.ts";
import { invalidPluginConfig, sectionField, sectionOf } from "./section-violations.ts";

export interface PluginStage {
  /** The plugins of the run, in order. */
  readonly plugins: readonly MessageInitShape<typeof PlannedPluginSchema>[];
  /** Those of them that the operator offers. */
  readonly offered: readonly OfferedPlugin[];
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
  const named: NamedPlugin[] = [];
  const { offered = [] } = context;
  for (const [index, id] of spec.pluginIds.entries()) {
    const field = `plugin_ids[${index}]`;
    const plugin = registry.find((each) => each.id === id);
    const ofOperator = offered.find(({ pluginDescriptor: descriptor }) => descriptor?.id === id);
    if (plugin === undefined && ofOperator !== undefined) {
      const broken = named.some((each) => each.plugin === ofOperator)
        ? { field, description: namedTwice(id), reason: invalidPluginConfig }
        : offeredProblem(ofOperator, field);
      if (broken === undefined) named.push({ plugin: ofOperator, field });
      else violations.push(broken);
      continue;
    }
    const problem = plugin === undefined ? undefined : problemOf(plugin, spec, context, declared);
    if (plugin === undefined) violations.push(notFound(field, id, knownIds(registry, offered)));
    else if (problem === undefined) declared.set(plugin, field);
    else violations.push({ field, description: problem, reason: invalidPluginConfig });
  }
  const added = registry.filter((plugin) => !declared.has(plugin) && plugin.isAdded(spec, context));
  const builtin = [...declared, ...added.map((plugin) => [plugin, addedBy(plugin, spec)] as const)];
  const claimed = builtin.flatMap(([{ section }]) => section ?? []);
  const names = new Set([...claimed.map(({ name }) => name), ...named.flatMap(sectionNames)]);
  const planned = [
    ...named.map((each) => plannedPlugin(spec, each)),
    ...builtin.map(([{ id, section }, by]) => ({
      id,
      origin: "builtin",
      addedBy: by,
      ...sectionsOf(spec, section?.name),
    })),
  ];
  return {
    plugins: inOrderOfSpec(planned),
    offered: named.map(({ plugin }) => plugin),
    violations: [
      ...violations,
      ...claimed.flatMap(({ problems }) => problems(spec)),
      ...offeredViolations(spec, named),
    ],
    warnings: unclaimedWarnings(spec, names, registry),
  };
}

/** Returns the section that a plugin reads, if the spec has it, with a digest: plans with other settings have other hashes. */
function sectionsOf(spec: AgentSpec, name: string | undefined) {
  const section = name === undefined ? undefined : sectionOf(spec, name);
  if (name === undefined || section === undefined) return { sections: [] };
  return { sections: [name], sectionsHash: digestText(jsonDigest({ [name]: section })) };
}

/** A plugin of the operator reads the section with its id, if it has a schema for it. */
function sectionNames({
  plugin: { pluginDescriptor: descriptor },
}: NamedPlugin): readonly string[] {
  return descriptor?.sectionSchema === undefined ? [] : [descriptor.id];
}

function plannedPlugin(spec: AgentSpec, { plugin, field }: NamedPlugin): Planned {
  const { pluginDescriptor: descriptor, origin, digest } = plugin;
  const [section] = sectionNames({ plugin, field });
  return {
    id: descriptor?.id ?? "",
    origin,
    addedBy: field,
    version: descriptor?.version ?? "",
    digest,
    ...sectionsOf(spec, section),
  };
}

type Planned = Exclude<MessageInitShape<typeof PlannedPluginSchema>, { $typeName: string }>;

/** Puts the plugins that the spec names first, in its order. */
function inOrderOfSpec(planned: readonly Planned[]): readonly Planned[] {
  const placeOf = ({ addedBy: by = "" }: Planned) =>
    Number(/^plugin_ids\[(\d+)\]$/.exec(by)?.[1] ?? Infinity);
  return planned.toSorted((a, b) => {
    const [first, second] = [placeOf(a), placeOf(b)];
    return first === second ? 0 : first - second;
  });
}

function knownIds(
  registry: readonly BuiltinPlugin[],
  offered: readonly OfferedPlugin[],
): readonly string[] {
  return [
    ...registry.map((plugin) => plugin.id),
    ...offered.flatMap(({ pluginDescriptor: descriptor }) => descriptor?.id ?? []),
  ];
}

function notFound(field: string, id: string, known: readonly string[]): Violation {
  const description = `plugin "${id}" does not exist; the plugins are: ${known.join(", ")}${suggestion(id, known)}`;
  return { field, description, reason: "PLUGIN_NOT_FOUND" };
}

function namedTwice(id: string): string {
  return `names plugin "${id}" a second time; remove it`;
}

/** Returns why a spec cannot name a plugin. Undefined: it can. */
function problemOf(
  plugin: BuiltinPlugin,
  spec: AgentSpec,
  context: PluginContext,
  declared: ReadonlyMap<BuiltinPlugin, string>,
): string | undefined {
  if (declared.has(plugin)) return namedTwice(plugin.id);
  if (plugin.isAdded(spec, context)) return undefined;
  return `plugin "${plugin.id}" has no effect until ${plugin.addedBy} adds it; set that field`;
}

/** The operator's policy adds permission rules and guards to agents without a section, and an approval policy needs no `hitl_tools`. */
function addedBy({ id, addedBy: by }: BuiltinPlugin, spec: AgentSpec): string {
  const isOfPolicy = id === "permission" || id === "guardrails";
  if (isOfPolicy && !Object.hasOwn(spec.sections, id)) return "policy";
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
