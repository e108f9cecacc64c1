import type { AgentSpec } from "@reeve/contracts/agent";
import { closestName } from "../text/closest-name.ts";
import type { NamePattern } from "./name-pattern.ts";
import { parseNamePattern } from "./name-pattern.ts";
import { stringsOf } from "../spec/string-list.ts";

type Selection = Pick<
  AgentSpec,
  "allowedTools" | "allowedToolPatterns" | "excludedTools" | "excludedToolPatterns"
>;

/**
 * Returns a filter over the names of tools. A tool passes if it is allowed by name or pattern and excluded by neither. If both
 * allowed fields are absent, all tools are allowed; an empty field allows none. Exclusion wins.
 */
export function catalogFilter(spec: Selection): (name: string) => boolean {
  const { allowedTools, allowedToolPatterns } = spec;
  const allowsAll = allowedTools === undefined && allowedToolPatterns === undefined;
  const allowed = nameSet(stringsOf(allowedTools).strings, stringsOf(allowedToolPatterns).strings);
  const excluded = exclusionFilter(spec);
  return (name) => (allowsAll || allowed(name)) && !excluded(name);
}

/** Returns whether the spec excludes a tool by name or pattern. */
export function exclusionFilter(
  spec: Pick<Selection, "excludedTools" | "excludedToolPatterns">,
): (name: string) => boolean {
  return nameSet(spec.excludedTools, spec.excludedToolPatterns);
}

function nameSet(
  literals: readonly string[],
  patterns: readonly string[],
): (name: string) => boolean {
  const names = new Set(literals);
  const parsed = patterns
    .map(parseNamePattern)
    .filter((pattern): pattern is NamePattern => pattern !== undefined);
  return (name) => names.has(name) || parsed.some((pattern) => pattern.matches(name));
}

/** Returns the end of a message about a name that does not exist: the name that is probably meant. */
export function suggestion(name: string, known: Iterable<string>): string {
  const closest = closestName(name, known);
  return closest === undefined ? "" : `; did you mean ${closest}?`;
}

/** Returns warnings about names and patterns of a spec that are probably mistakes, given the tools that exist. */
export function filterWarnings(spec: Selection, tools: readonly string[]): readonly string[] {
  const entries = [
    ["allowed_tools", stringsOf(spec.allowedTools).strings],
    ["excluded_tools", spec.excludedTools],
    ["allowed_tool_patterns", stringsOf(spec.allowedToolPatterns).strings],
    ["excluded_tool_patterns", spec.excludedToolPatterns],
  ] as const;
  return entries.flatMap(([field, names]) =>
    names.flatMap((name) => {
      if (/^\S+\(.*\)$/.test(name)) {
        return [
          `${field}: "${name}" looks like a permission rule; a filter takes only names of tools`,
        ];
      }
      if (field.endsWith("patterns")) {
        const pattern = parseNamePattern(name);
        const isUnused = pattern !== undefined && !tools.some((tool) => pattern.matches(tool));
        return isUnused ? [`${field}: "${name}" currently matches no tool`] : [];
      }
      return tools.includes(name)
        ? []
        : [`${field}: the tool "${name}" does not exist at the moment${suggestion(name, tools)}`];
    }),
  );
}
