import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { WorkBudget } from "../schema/work-budget.ts";
import type { ArgumentCondition, CallPattern, PathStep, TextMatcher } from "./permission-rule.ts";

/** A call as rules see it: a tool, and the arguments that it would be executed with. */
export interface CheckedCall {
  readonly tool: Pick<ToolDescriptor, "name" | "source" | "inputSchema" | "pathArguments">;
  readonly args: JsonObject;
}

/**
 * Returns whether a pattern matches a call. `quantifier` says what a condition means for a path with several values: `every` needs at
 * least one value, and all must fit, as a rule that allows a call must; `some` needs one that fits. An argument that is absent
 * fits a negated condition of `some` only, so that leaving it out avoids no rule that denies.
 */
export function matchesCall(
  { tool, conditions }: CallPattern,
  call: CheckedCall,
  quantifier: "every" | "some",
  work: WorkBudget,
): boolean {
  return (
    test(tool, call.tool.name, work) &&
    conditions.every((condition) => holds(condition, call, quantifier, work))
  );
}

function holds(
  { path, isNegated, matcher }: ArgumentCondition,
  { tool, args }: CheckedCall,
  quantifier: "every" | "some",
  work: WorkBudget,
): boolean {
  const primary = path === undefined ? primaryArgument(tool) : undefined;
  // Nobody can say what the rule means for such a tool: it denies and asks, and does not allow.
  if (path === undefined && primary === undefined) return quantifier === "some";
  const values = valuesAt(args, path ?? [{ kind: "member", name: primary ?? "" }], work);
  const step = path === undefined ? undefined : path[0];
  const name = step?.kind === "member" ? step.name : primary;
  const isPath = name !== undefined && tool.pathArguments.includes(name);
  const isFitting = (text: string) => test(matcher, text, work) !== isNegated;
  const fits = (value: JsonValue) => {
    // Another way to write the same path avoids no rule: the path must fit as it is and in its shortest form to be allowed.
    const texts = isPath && typeof value === "string" ? spellings(value) : [textOf(value)];
    return quantifier === "every" ? texts.every(isFitting) : texts.some(isFitting);
  };
  if (values.length === 0) return quantifier === "some" && isNegated;
  return quantifier === "every" ? values.every(fits) : values.some(fits);
}

/** Returns the argument that `Tool(glob)` is about: the first that the tool requires, or else its only one. */
function primaryArgument({ inputSchema }: CheckedCall["tool"]): string | undefined {
  const required = inputSchema?.["required"];
  const first = Array.isArray(required) ? required[0] : undefined;
  if (typeof first === "string") return first;
  const properties = inputSchema?.["properties"];
  if (typeof properties !== "object" || properties === null) return undefined;
  const names = Object.keys(properties);
  return names.length === 1 ? names[0] : undefined;
}

function valuesAt(
  root: JsonValue,
  path: readonly PathStep[],
  work: WorkBudget,
): readonly JsonValue[] {
  let values: readonly JsonValue[] = [root];
  for (const step of path) {
    values = values.flatMap((value) => within(value, step));
    work.spend(values.length);
  }
  return values;
}

function within(value: JsonValue, step: PathStep): readonly JsonValue[] {
  if (typeof value !== "object" || value === null) return [];
  switch (step.kind) {
    case "every":
      return Array.isArray(value) ? value : Object.values(value);
    case "element":
      return Array.isArray(value) && step.index < value.length ? [value[step.index] ?? null] : [];
    case "member":
      return !Array.isArray(value) && Object.hasOwn(value, step.name)
        ? [value[step.name] ?? null]
        : [];
  }
}

/** Returns a path as it is, and in its shortest form below the workspace. */
function spellings(path: string): readonly string[] {
  const parts: string[] = [];
  for (const part of path.replace(/^\/workspace(?=\/|$)/, "").split("/")) {
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return [path, parts.length === 0 ? "." : parts.join("/")];
}

/** Returns what patterns are matched against: a text as it is, a list of texts as a command line, and other values as JSON. */
export function textOf(value: JsonValue): string {
  if (typeof value === "string") return value;
  return isTexts(value) ? value.map(wordOf).join(" ") : canonicalJson(value);
}

function isTexts(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Quotes a word that could be read as several ones, so that `git *` matches no program named "git x". */
function wordOf(word: string): string {
  return /^[^\s"]+$/.test(word) ? word : JSON.stringify(word);
}

function test(matcher: TextMatcher, text: string, work: WorkBudget): boolean {
  work.spend(1 + matcher.cost * text.length);
  return matcher.matches(text);
}
