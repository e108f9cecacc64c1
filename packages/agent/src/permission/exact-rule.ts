import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { textOf } from "./match-call.ts";
import { maxRuleCharacters, maxRuleParts, parseRule } from "./parse-rule.ts";

/**
 * Returns the rule that matches a call of a tool with these values, whatever other arguments it has: `freeArguments` says which. Undefined: it
 * would be too long or have too many conditions, or the name of the tool or of an argument cannot be written.
 */
export function exactRule(tool: string, args: JsonObject): string | undefined {
  const entries = Object.entries(args);
  if (entries.length > maxRuleParts || !/^[A-Za-z0-9_-]+$/.test(tool)) return undefined;
  const conditions = entries.map(([name, value]) => `${memberOf(name)} = ${quoted(value)}`);
  const rule = entries.length === 0 ? tool : `${tool}(${conditions.join(", ")})`;
  if (rule.length > maxRuleCharacters) return undefined;
  const { conditions: parsed } = parseRule(rule).pattern ?? {};
  // A name that begins with a space, for example, is not read as the name of an argument.
  const isExact =
    parsed?.length === entries.length && parsed.every(({ path }) => path !== undefined);
  return isExact ? rule : undefined;
}

function memberOf(name: string): string {
  return /^[A-Za-z0-9_$-]+$/.test(name) ? name : quoted(name);
}

function quoted(value: JsonValue): string {
  return `"${textOf(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
