import type { RunModel } from "./run-model.ts";

/** Something that a run could not use. */
export interface Withheld {
  readonly name: string;
  /** What it is, such as `tool`. */
  readonly kind: string;
  /** What withheld it, for people. */
  readonly why: string;
}

/** Returns what the run could not use although the deployment has it, and why: at the time at which the run was prepared. */
export function withheldFrom({ prepared }: Pick<RunModel, "prepared">): readonly Withheld[] {
  const byPolicy = (prepared?.policy?.withheld ?? []).map(({ kind, name, rule, tool }) => ({
    name: tool || name,
    kind: `${kind.replace("_", " ")}${tool === "" ? "" : `: ${name}`}`,
    why: `rule ${rule} of the operator's policy`,
  }));
  const named = new Set(byPolicy.map(({ name }) => name));
  const byAgent = (prepared?.plan?.excludedTools ?? [])
    .filter(({ name }) => !named.has(name))
    .map(({ name, reason, excludedBy }) => ({ name, kind: "tool", why: reason || excludedBy }));
  return [...byPolicy, ...byAgent];
}

/** Returns why a call failed whose tool was withheld from the run. Undefined: it was not. */
export function whyWithheld(run: Pick<RunModel, "prepared">, tool: string): string | undefined {
  if (run.prepared?.tools.some(({ name }) => name === tool) === true) return undefined;
  return withheldFrom(run).find(({ name }) => name === tool)?.why;
}
