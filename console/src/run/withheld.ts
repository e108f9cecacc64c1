import type { RunModel } from "./run-model.ts";

/** Something that a run could not use, or not with all arguments. */
export interface Withheld {
  readonly name: string;
  /** What it is, such as `tool`. */
  readonly kind: string;
  /** What withheld it, for people. */
  readonly why: string;
  /** Whether only the agent's own list of tools leaves it out. */
  readonly isUnnamed: boolean;
}

/**
 * Returns what the run could not use although the deployment has it, and why, at the time at which the run was prepared: by rules of
 * the operator first, then by rules and permission classes, and last what the agent does not name.
 */
export function withheldFrom({ prepared }: Pick<RunModel, "prepared">): readonly Withheld[] {
  const byPolicy = (prepared?.policy?.withheld ?? []).map(({ kind, name, rule, tool }) => ({
    name: tool || name,
    kind: `${kind.replace("_", " ")}${tool === "" ? "" : `: ${name}`}`,
    why: `rule ${rule} of the operator's policy`,
    isUnnamed: false,
  }));
  const named = new Set(byPolicy.map(({ name }) => name));
  const byAgent = (prepared?.plan?.excludedTools ?? [])
    .filter(({ name }) => !named.has(name))
    .map(({ name, reason, excludedBy }) => ({
      name,
      kind: "tool",
      why: reason || excludedBy,
      isUnnamed: filterFields.test(excludedBy),
    }))
    .toSorted((one, other) => Number(one.isUnnamed) - Number(other.isUnnamed));
  return [...byPolicy, ...byAgent];
}

/** The fields of a spec with which an agent chooses its tools. */
export const filterFields = /^(allowed|excluded)_tool(s|_patterns)\b/;

/** Returns the tools of the run of which some calls are denied, with the rules that deny them. */
export function partlyDenied({ prepared }: Pick<RunModel, "prepared">): readonly Withheld[] {
  return (prepared?.plan?.tools ?? []).flatMap(({ name, callRules }) => {
    const denying = callRules.filter((rule) => rule.startsWith("deny "));
    if (denying.length === 0) return [];
    return [{ name, kind: "some calls", why: denying.join(", "), isUnnamed: false }];
  });
}

/** Returns the warnings about names in the agent's list of tools, such as those that no tool has. */
export function toolWarnings({ prepared }: Pick<RunModel, "prepared">): readonly string[] {
  const listed = withheldFrom({ prepared }).map(({ name }) => `"${name}"`);
  return (prepared?.warnings ?? []).filter(
    (warning) => filterFields.test(warning) && !listed.some((name) => warning.includes(name)),
  );
}

/** Returns why a call failed whose tool was withheld from the run. Undefined: it was not. */
export function whyWithheld(run: Pick<RunModel, "prepared">, tool: string): string | undefined {
  if (run.prepared?.tools.some(({ name }) => name === tool) === true) return undefined;
  return withheldFrom(run).find(({ name }) => name === tool)?.why;
}
