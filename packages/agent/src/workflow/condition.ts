import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import { regexMatcher } from "../permission/text-matchers.ts";
import type { operators } from "./builtin-node-types.ts";
import { valueAt } from "./handles.ts";

type Operator = (typeof operators)[number];

const comparisons: Readonly<Record<Operator, (value: JsonValue, operand: JsonValue) => boolean>> = {
  equals: isEqual,
  not_equals: (value, operand) => !isEqual(value, operand),
  contains,
  greater: (value, operand) => (order(value, operand) ?? 0) > 0,
  less: (value, operand) => (order(value, operand) ?? 0) < 0,
  exists: (value) => value !== null,
  matches: (value, operand) =>
    typeof value === "string" &&
    typeof operand === "string" &&
    (regexMatcher(operand).matcher?.matches(value) ?? false),
};

/** The most steps that an expression may take for one text: a worker does nothing else meanwhile. */
const maxSteps = 10_000_000;

/** Returns why a condition cannot be decided for a value. Undefined: it can. */
export function conditionProblem(properties: JsonObject, value: JsonValue): string | undefined {
  const { operator, operand } = properties;
  const text = comparedPart(properties, value);
  if (operator !== "matches" || typeof operand !== "string" || typeof text !== "string") {
    return undefined;
  }
  const { cost = 0 } = regexMatcher(operand).matcher ?? {};
  return cost * text.length > maxSteps
    ? `the text has ${text.length} characters, too many for /${operand}/`
    : undefined;
}

function comparedPart({ path }: JsonObject, value: JsonValue): JsonValue {
  const keys = typeof path === "string" && path !== "" ? path.split(".") : [];
  return valueAt(value, keys) ?? null;
}

/** Whether the condition that a node's properties state holds for a value. A part of the value that is missing is null. */
export function conditionHolds(properties: JsonObject, value: JsonValue): boolean {
  const { operator, operand = null } = properties;
  const compare = Object.entries(comparisons).find(([name]) => name === operator)?.[1];
  return compare?.(comparedPart(properties, value), operand) ?? false;
}

/** Returns why the operand of a condition cannot be compared with. Undefined: it can. */
export function operandProblem({ operator, operand }: JsonObject): string | undefined {
  if (operator === "exists") return undefined;
  if (operand === undefined) return "is required by the operator";
  if (operator !== "matches") return undefined;
  return typeof operand === "string" ? regexMatcher(operand).problem : "must be a text";
}

function isEqual(value: JsonValue, operand: JsonValue): boolean {
  return canonicalJson(value) === canonicalJson(operand);
}

function contains(value: JsonValue, operand: JsonValue): boolean {
  if (typeof value === "string") return typeof operand === "string" && value.includes(operand);
  if (Array.isArray(value)) return value.some((each) => isEqual(each, operand));
  return typeof value === "object" && typeof operand === "string" && value !== null
    ? Object.hasOwn(value, operand)
    : false;
}

/** Returns how two numbers, or two texts, are ordered. Undefined: they are something else. */
function order(value: JsonValue, operand: JsonValue): number | undefined {
  if (typeof value === "number" && typeof operand === "number") return value - operand;
  if (typeof value !== "string" || typeof operand !== "string") return undefined;
  return value === operand ? 0 : value > operand ? 1 : -1;
}
