import type { AgentSpec } from "@reeve/contracts/agent";
import type { SpecWarning } from "../spec/spec-warning.ts";
import { suggestion } from "../tools/catalog-filter.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import { stopConditionsOf } from "./stop-section.ts";

/** Returns warnings about stop conditions on tools that the agent does not have: its runs never stop at them. */
export function stopWarnings(
  spec: Pick<AgentSpec, "sections">,
  { tools }: Pick<Toolbelt, "tools">,
): readonly SpecWarning[] {
  const names = new Set(tools.map(({ name }) => name));
  return (stopConditionsOf(spec)?.tools ?? []).flatMap((name, index) => {
    if (names.has(name)) return [];
    const description = `the agent does not have the tool "${name}", so no call of it stops a run${suggestion(name, names)}`;
    return [{ field: `sections.stop.tools[${index}]`, description, reason: "UNKNOWN_TOOL" }];
  });
}
