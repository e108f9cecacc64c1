import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { suggestion } from "../tools/catalog-filter.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import { agentLevel, permissionSectionName, permissionSectionOf } from "./permission-levels.ts";
import { permissionSchema } from "./permission-schema.ts";

/** The most problems that are listed. */
const maxListed = 50;

/** Returns what is wrong with the permission rules of an agent, each with its field. */
export function permissionViolations(spec: Pick<AgentSpec, "sections">): readonly Violation[] {
  const section = permissionSectionOf(spec);
  if (section === undefined) return [];
  const parsed = permissionSchema.safeParse(section);
  if (parsed.success) return [];
  return parsed.error.issues.slice(0, maxListed).flatMap((issue) => {
    const paths =
      issue.code === "unrecognized_keys"
        ? issue.keys.slice(0, maxListed).map((key) => [...issue.path, key])
        : [issue.path];
    return paths.map((path) => ({
      field: fieldOf(path),
      description: issue.code === "unrecognized_keys" ? "unknown field" : issue.message,
      reason: "INVALID_PLUGIN_CONFIG",
    }));
  });
}

function fieldOf(path: readonly PropertyKey[]): string {
  const rest = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return `sections.${permissionSectionName}${rest.join("")}`;
}

/** Returns warnings about rules for tools that the agent does not have. */
export function permissionWarnings(
  spec: Pick<AgentSpec, "sections">,
  { tools, excluded, denied }: Pick<Toolbelt, "tools" | "excluded" | "denied">,
): readonly string[] {
  const rules = agentLevel(spec)?.rules ?? [];
  return rules.flatMap(({ text, pattern }, index) => {
    const isFor = (name: string) => pattern.tool.matches(name);
    if (tools.some(({ name }) => isFor(name)) || [...denied.keys()].some(isFor)) return [];
    const field = `sections.${permissionSectionName}.rules[${index}]`;
    const missing = [...excluded].find(([name]) => isFor(name));
    return missing === undefined
      ? [`${field}: "${text}" matches no tool at the moment${suggestionFor(text, tools)}`]
      : [`${field}: "${text}" has no effect: the agent does not have ${missing[0]}: ${missing[1]}`];
  });
}

function suggestionFor(text: string, tools: Toolbelt["tools"]): string {
  const name = text.split("(")[0]?.trim() ?? "";
  return suggestion(
    name,
    tools.map((tool) => tool.name),
  );
}
