import type { AgentSpec, OfferedPlugin } from "@reeve/contracts/agent";
import { MergeMode } from "@reeve/contracts/extensions/plugin";
import type { Violation } from "@reeve/platform/failure";
import { valueProblem } from "../schema/value-problem.ts";
import { invalidPluginConfig, sectionField, sectionOf } from "./section-violations.ts";

/** A plugin of the operator that an agent names, with its place in `plugin_ids`. */
export interface NamedPlugin {
  readonly plugin: OfferedPlugin;
  readonly field: string;
}

/** Returns why a run cannot have a plugin of the operator. Undefined: it can. */
export function offeredProblem(
  { pluginDescriptor: descriptor, problem }: OfferedPlugin,
  field: string,
): Violation | undefined {
  if (problem === "") return undefined;
  const description = `plugin "${descriptor?.id ?? ""}" cannot be used: ${problem}; correct it, or remove it from the agent`;
  return { field, description, reason: invalidPluginConfig };
}

/** Returns the contradictions between plugins of an agent, and what is wrong with their sections. */
export function offeredViolations(
  spec: AgentSpec,
  named: readonly NamedPlugin[],
): readonly Violation[] {
  return [...keyViolations(named), ...named.flatMap(({ plugin }) => sectionProblems(spec, plugin))];
}

/** Two plugins may share a key only if the order of their changes does not matter. */
export function keyViolations(named: readonly NamedPlugin[]): readonly Violation[] {
  const owners = new Map<string, { readonly id: string; readonly merge: MergeMode }>();
  return named.flatMap(({ plugin: { pluginDescriptor: descriptor }, field }) =>
    (descriptor?.stateKeys ?? []).flatMap(({ name, merge }): readonly Violation[] => {
      const id = descriptor?.id ?? "";
      const owner = owners.get(name);
      if (owner === undefined) {
        owners.set(name, { id, merge });
        return [];
      }
      if (owner.merge === merge && isShared(merge)) return [];
      const description = `plugins "${owner.id}" and "${id}" declare the state key "${name}", and ${
        isShared(owner.merge) && isShared(merge)
          ? "merge it in different ways"
          : "one of them exclusively"
      }; remove one of them from plugin_ids`;
      return [{ field, description, reason: invalidPluginConfig }];
    }),
  );
}

function isShared(merge: MergeMode): boolean {
  return merge === MergeMode.SUM || merge === MergeMode.UNION;
}

function sectionProblems(
  spec: AgentSpec,
  { pluginDescriptor: descriptor }: OfferedPlugin,
): readonly Violation[] {
  const { id = "", sectionSchema } = descriptor ?? {};
  const section = sectionOf(spec, id);
  if (section === undefined || sectionSchema === undefined) return [];
  const problem = valueProblem(sectionSchema, section);
  if (problem === undefined) return [];
  return [{ field: sectionField(id), description: problem, reason: invalidPluginConfig }];
}
