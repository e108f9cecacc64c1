import type { AgentSpec } from "@reeve/contracts/agent";
import type { SpecWarning } from "../spec/spec-warning.ts";
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

/** What lets a tool through the filter, or keeps it out: a field of the spec, with the pattern that matches. */
interface FilterDecision {
  readonly isIn: boolean;
  readonly by: string;
}

/** Returns a function that says what the filter of a spec decides about a tool, and which entry decides. */
export function filterDecision(spec: Selection): (name: string) => FilterDecision {
  const isIn = catalogFilter(spec);
  const { allowedTools, allowedToolPatterns } = spec;
  const allowsAll = allowedTools === undefined && allowedToolPatterns === undefined;
  const allowed = entryOf(
    "allowed",
    stringsOf(allowedTools).strings,
    stringsOf(allowedToolPatterns).strings,
  );
  const excluded = entryOf("excluded", spec.excludedTools, spec.excludedToolPatterns);
  const absent = allowedTools === undefined ? "allowed_tool_patterns" : "allowed_tools";
  return (name) => {
    if (isIn(name)) return { isIn: true, by: allowsAll ? "default" : (allowed(name) ?? absent) };
    return { isIn: false, by: excluded(name) ?? absent };
  };
}

/** Returns a function that names the field, or the field and the pattern, that a tool matches first. Undefined: none. */
function entryOf(
  verb: "allowed" | "excluded",
  literals: readonly string[],
  patterns: readonly string[],
): (name: string) => string | undefined {
  const names = new Set(literals);
  const parsed = patterns.map((text) => ({ text, pattern: parseNamePattern(text) }));
  return (name) => {
    if (names.has(name)) return `${verb}_tools`;
    const found = parsed.find(({ pattern }) => pattern?.matches(name) === true);
    return found === undefined ? undefined : `${verb}_tool_patterns: ${found.text}`;
  };
}

/** A name that is followed by an argument in parentheses, also with spaces around either, as no name of a tool is. */
const permissionShape = /^[^()]+\(.*\)\s*$/s;

/** Returns warnings about names and patterns of a spec that are probably mistakes, given the tools that exist. */
export function filterWarnings(spec: Selection, tools: readonly string[]): readonly SpecWarning[] {
  const entries = [
    ["allowed_tools", stringsOf(spec.allowedTools).strings],
    ["excluded_tools", spec.excludedTools],
    ["allowed_tool_patterns", stringsOf(spec.allowedToolPatterns).strings],
    ["excluded_tool_patterns", spec.excludedToolPatterns],
  ] as const;
  const known = new Set(tools);
  return entries.flatMap(([list, names]) =>
    names.flatMap((name, index): readonly SpecWarning[] => {
      const field = `${list}[${index}]`;
      if (permissionShape.test(name)) {
        const description = `"${name}" looks like a permission rule; a filter takes only names of tools`;
        return [{ field, description, reason: "PERMISSION_SHAPED_ENTRY" }];
      }
      if (list.endsWith("patterns")) {
        const pattern = parseNamePattern(name);
        const isUnused = pattern !== undefined && !tools.some((tool) => pattern.matches(tool));
        const description = `"${name}" currently matches no tool; correct it, or remove it`;
        return isUnused ? [{ field, description, reason: "UNMATCHED_PATTERN" }] : [];
      }
      if (known.has(name)) return [];
      const description = `the tool "${name}" does not exist at the moment${suggestion(name, tools)}`;
      return [{ field, description, reason: "UNKNOWN_TOOL" }];
    }),
  );
}
