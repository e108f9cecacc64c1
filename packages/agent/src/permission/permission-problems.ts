import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { suggestion } from "../tools/catalog-filter.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import { sectionViolations } from "../plugins/section-violations.ts";
import type { SpecWarning } from "../spec/spec-warning.ts";
import { agentLevel, permissionSectionName } from "./permission-levels.ts";
import { permissionSchema } from "./permission-schema.ts";

/** Returns what is wrong with the permission rules of an agent, each with its field. */
export function permissionViolations(spec: Pick<AgentSpec, "sections">): readonly Violation[] {
  return sectionViolations(spec, permissionSectionName, permissionSchema);
}

/** Returns warnings about rules for tools that the agent does not have. */
export function permissionWarnings(
  spec: Pick<AgentSpec, "sections">,
  { tools, excluded, denied }: Pick<Toolbelt, "tools" | "excluded" | "denied">,
): readonly SpecWarning[] {
  const rules = agentLevel(spec)?.rules ?? [];
  return rules.flatMap(({ text, pattern }, index) => {
    const isFor = (name: string) => pattern.tool.matches(name);
    if (tools.some(({ name }) => isFor(name)) || [...denied.keys()].some(isFor)) return [];
    const field = `sections.${permissionSectionName}.rules[${index}]`;
    const missing = [...excluded].find(([name]) => isFor(name));
    if (missing === undefined) {
      const description = `"${text}" matches no tool at the moment${suggestionFor(text, tools)}`;
      return [{ field, description, reason: "UNMATCHED_PERMISSION_RULE" }];
    }
    const description = `"${text}" has no effect: the agent does not have ${missing[0]}: ${missing[1]}`;
    return [{ field, description, reason: "ORPHAN_PERMISSION_RULE" }];
  });
}

function suggestionFor(text: string, tools: Toolbelt["tools"]): string {
  const name = text.split("(")[0]?.trim() ?? "";
  return suggestion(
    name,
    tools.map((tool) => tool.name),
  );
}
